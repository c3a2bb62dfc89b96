import SignetCrypto

/// The one form of a password that keys are derived from and lengths are counted in: the OpaqueString profile
/// of RFC 8265 section 4.2.
///
/// Spaces of all kinds become U+0020, the text is put into Unicode Normalization Form C, and nothing else
/// changes: case, width and order stay. Control, invisible, private-use and unassigned characters are refused,
/// as the FreeformClass of RFC 8264 section 4.3 does. Two deliberate differences, both more permissive: its
/// contextual characters (joiners, middle dot, Arabic-Indic digits and so on) are allowed in any context,
/// because those rules keep names from looking alike, and nobody looks at a password; and characters are
/// checked after normalization, so that Hangul typed as single jamo is accepted as the syllables it makes.
///
/// **Copies.** The caller owns the bytes given and the bytes returned, and wipes both. What else is made on the way is wiped here.
/// A `String` cannot be wiped, so give bytes where a secret's lifetime matters.
public enum OpaqueString {
  /// The most UTF-8 bytes taken, before preparation: far above 256 code points, to bound the work.
  public static let maximumByteCount = 4096

  /// Prepares a password.
  ///
  /// - Parameter utf8: The password as typed, 1 to 4096 bytes.
  /// - Returns: The prepared password as UTF-8; the caller wipes it.
  /// - Throws: ``OpaqueStringFailure``.
  public static func prepare(utf8: [UInt8]) throws(OpaqueStringFailure) -> [UInt8] {
    guard !utf8.isEmpty else { throw .empty }
    guard utf8.count <= maximumByteCount else { throw .tooLong }
    if utf8.allSatisfy({ 0x20...0x7E ~= $0 }) { return utf8 }  // already in its form: no copy, no String
    let text: UTF8Span
    do { text = try UTF8Span(validating: utf8.span) } catch { throw .notUTF8 }
    var table = CharacterTable.current
    var form = mapped(text, &table)
    defer { form.wipe() }
    // Form C has at most three times the bytes (UAX #15), so that the array never moves and leaves a copy.
    var prepared: [UInt8] = []
    prepared.reserveCapacity(3 * utf8.count)
    for scalar in form.scalars {
      guard table.traits(scalar).isAllowed else {
        prepared.wipe()
        throw .disallowedCharacter
      }
      prepared.append(contentsOf: Unicode.UTF8.encode(scalar) ?? Unicode.UTF8.encodedReplacementCharacter)
    }
    return prepared
  }

  /// Prepares a password.
  ///
  /// - Parameter text: The password as typed, 1 to 4096 bytes of UTF-8.
  /// - Returns: The prepared password as UTF-8; the caller wipes it.
  /// - Throws: ``OpaqueStringFailure``.
  public static func prepare(_ text: String) throws(OpaqueStringFailure) -> [UInt8] {
    var bytes = Array(text.utf8)
    defer { bytes.wipe() }
    return try prepare(utf8: bytes)
  }

  /// The text after the mapping and normalization rules, before anything is refused; the caller wipes it.
  package static func mapped(_ text: borrowing UTF8Span, _ table: inout CharacterTable) -> FormC {
    var form = FormC(byteCount: text.count)
    var scalars = text.makeUnicodeScalarIterator()
    while let scalar = scalars.next() {
      let traits = table.traits(scalar)
      if traits.isSpace { form.append(" ", table.traits(" ")) } else { form.append(scalar, traits) }
    }
    form.finish()
    return form
  }

  /// Whether ``mapped(_:_:)`` changes nothing but spaces, because the text is in Form C (UAX #15 section 9).
  static func changesOnlySpaces(_ text: borrowing UTF8Span, _ table: inout CharacterTable) -> Bool {
    if text.isKnownASCII { return true }
    var combiningClass: UInt8 = 0
    var scalars = text.makeUnicodeScalarIterator()
    while let scalar = scalars.next() {
      let traits = table.traits(scalar)
      let isInOrder = traits.combiningClass == 0 || combiningClass <= traits.combiningClass
      guard traits.isSpace || traits.stays && isInOrder else { return false }
      combiningClass = traits.combiningClass
    }
    return true
  }

  /// Whether a code point may stand in free text: RFC 8264 section 8, with contextual characters allowed.
  static func allows(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20...0x7E: return true
    case 0x200C, 0x200D: return true  // JoinControl (section 9.8), contextual
    case 0x640, 0x7FA, 0x302E, 0x302F, 0x3031...0x3035, 0x303B: return false  // Exceptions (section 9.6)
    case 0x1100...0x11FF, 0xA960...0xA97C, 0xD7B0...0xD7FB: return false  // OldHangulJamo (section 9.9)
    default: break
    }
    let properties = scalar.properties
    if properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint { return false }
    switch properties.generalCategory {
    case .control, .format, .privateUse, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator:
      return false
    default:
      return true
    }
  }
}

/// Why a text cannot be a password at all.
@nonexhaustive public enum OpaqueStringFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// There is nothing in it.
  case empty
  /// More than ``OpaqueString/maximumByteCount`` bytes.
  case tooLong
  /// The bytes are not UTF-8.
  case notUTF8
  /// A character that RFC 8264 keeps out of free text: a control, invisible, private-use or unassigned one, an exception
  /// (section 9.6) or an old Hangul jamo (section 9.9).
  case disallowedCharacter

  /// What is wrong and what to do.
  public var description: String {
    switch self {
    case .empty: "the password is empty; enter one"
    case .tooLong: "the password is longer than \(OpaqueString.maximumByteCount) bytes; use a shorter one"
    case .notUTF8: "the password is not UTF-8; enter it as UTF-8 text"
    case .disallowedCharacter:
      "the password has a control, invisible or unassigned character, or another that RFC 8264 disallows; leave it out"
    }
  }
}
