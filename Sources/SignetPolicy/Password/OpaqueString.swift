import SignetCrypto

/// The prepared form of a password, for key derivation and for length rules: the OpaqueString profile of RFC 8265 section
/// 4.2.
///
/// All kinds of spaces become U+0020, the text is converted to Unicode Normalization Form C, and nothing else changes: case,
/// width and order stay. Control, invisible, private-use and unassigned characters are rejected, as in the FreeformClass of
/// RFC 8264 section 4.3. Two deliberate differences are more permissive:
///
/// - Contextual characters (joiners, middle dot, Arabic-Indic digits and so on) are allowed in any context. Those rules
///   prevent names that look alike, and a password is not shown.
/// - Characters are checked after normalization, so Hangul typed as single jamo is accepted as the resulting syllables.
///
/// **Copies.** The caller owns the input and the output bytes and wipes both. All intermediate copies are wiped here. A
/// `String` cannot be wiped: pass bytes if the lifetime of a secret matters.
public enum OpaqueString {
  /// The maximum input in UTF-8 bytes, before preparation: far above 256 code points, to bound the work.
  public static let maximumByteCount = 4096

  /// Prepares a password.
  ///
  /// - Parameter utf8: The password as typed, 1 to 4096 bytes.
  /// - Returns: The prepared password as UTF-8; the caller wipes it.
  /// - Throws: ``OpaqueStringFailure``.
  public static func prepare(utf8: [UInt8]) throws(OpaqueStringFailure) -> [UInt8] {
    guard !utf8.isEmpty else { throw .empty }
    guard utf8.count <= maximumByteCount else { throw .tooLong }
    if utf8.allSatisfy({ 0x20...0x7E ~= $0 }) { return utf8 }  // already prepared: no copy, no String
    let text: UTF8Span
    do { text = try UTF8Span(validating: utf8.span) } catch { throw .notUTF8 }
    var table = CharacterTable.current
    var form = mapped(text, &table)
    defer { form.wipe() }
    // Form C has at most three times the bytes (UAX #15): with this capacity the array never moves and leaves no copy.
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

  /// Maps spaces and normalizes the text without rejecting characters; the caller wipes the result.
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

  /// True if a code point is allowed in free text: RFC 8264 section 8, with contextual characters allowed.
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

/// Why a text cannot be prepared as a password.
@nonexhaustive public enum OpaqueStringFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text is empty.
  case empty
  /// The text has more than ``OpaqueString/maximumByteCount`` bytes.
  case tooLong
  /// The bytes are not UTF-8.
  case notUTF8
  /// A character that RFC 8264 does not allow in free text.
  ///
  /// It is a control, invisible, private-use or unassigned character, an exception (section 9.6) or an old Hangul jamo
  /// (section 9.9).
  case disallowedCharacter

  /// The cause and the remedy.
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
