import Foundation

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
/// **Copies.** The caller owns the bytes given and the bytes returned, and wipes both. ASCII passes through no other memory.
/// Of other text, single letters with their marks pass through strings, which cannot be wiped, but never two of them together.
/// A whole `String` cannot be wiped either, so give bytes where a secret's lifetime matters.
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
    var scalars: UTF8Span.UnicodeScalarIterator
    do { scalars = try UTF8Span(validating: utf8.span).makeUnicodeScalarIterator() } catch { throw .notUTF8 }
    // Form C has at most three times the bytes (UAX #15), so that the array never moves and leaves a copy.
    var prepared: [UInt8] = []
    prepared.reserveCapacity(3 * utf8.count)
    var piece = String.UnicodeScalarView()
    while let scalar = scalars.next() {
      if !piece.isEmpty, begins(scalar) { try append(&piece, to: &prepared) }
      piece.append(scalar.properties.generalCategory == .spaceSeparator ? " " : scalar)
    }
    try append(&piece, to: &prepared)
    return prepared
  }

  /// Prepares what no later character changes, and empties it.
  ///
  /// A piece is a letter with its marks, so that only that much of a password is ever in a string.
  private static func append(
    _ piece: inout String.UnicodeScalarView, to prepared: inout [UInt8]
  ) throws(OpaqueStringFailure) {
    let isPlain = piece.allSatisfy { $0.value < 0x300 }
    let normalized = isPlain ? String(piece) : String(piece).precomposedStringWithCanonicalMapping
    guard normalized.unicodeScalars.allSatisfy(allows) else {
      for index in prepared.indices { prepared[index] = 0 }
      throw .disallowedCharacter
    }
    prepared += normalized.utf8
    piece = String.UnicodeScalarView()
  }

  /// Whether normalization never joins a code point with what is before it.
  ///
  /// Said of fewer than it is true of: what may be joined (UAX #15, NFC_Quick_Check is Maybe) are marks, vowels and final
  /// consonants of Hangul, and vowel signs of Kirat Rai.
  static func begins(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x300: return true
    case 0x1160...0x11FF, 0xD7B0...0xD7FB, 0x16D60...0x16D6F: return false
    default: break
    }
    guard scalar.properties.canonicalCombiningClass == .notReordered else { return false }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return false
    default: return true
    }
  }

  /// Prepares a password.
  ///
  /// - Parameter text: The password as typed, 1 to 4096 bytes of UTF-8.
  /// - Returns: The prepared password as UTF-8; the caller wipes it.
  /// - Throws: ``OpaqueStringFailure``.
  public static func prepare(_ text: String) throws(OpaqueStringFailure) -> [UInt8] {
    guard !text.utf8.isEmpty else { throw .empty }
    guard text.utf8.count <= maximumByteCount else { throw .tooLong }
    let mapped = mapped(text)
    guard mapped.unicodeScalars.allSatisfy(allows) else { throw .disallowedCharacter }
    return Array(mapped.utf8)
  }

  /// The text after the mapping and normalization rules, before anything is refused.
  static func mapped(_ text: String) -> String {
    var mayCompose = false
    var hasOtherSpaces = false
    for scalar in text.unicodeScalars where !scalar.isASCII {
      if isSpace(scalar) { hasOtherSpaces = true }
      if scalar.value >= 0x300 { mayCompose = true }  // below, every code point is in Form C (UAX #15)
    }
    var result = text
    if hasOtherSpaces {
      result = String(String.UnicodeScalarView(text.unicodeScalars.map { isSpace($0) ? " " : $0 }))
    }
    return mayCompose ? result.precomposedStringWithCanonicalMapping : result
  }

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .spaceSeparator
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
  /// A control, invisible, private-use or unassigned character.
  case disallowedCharacter

  /// What is wrong and what to do.
  public var description: String {
    switch self {
    case .empty: "the password is empty; enter one"
    case .tooLong: "the password is longer than \(OpaqueString.maximumByteCount) bytes; use a shorter one"
    case .notUTF8: "the password is not UTF-8; enter it as UTF-8 text"
    case .disallowedCharacter: "the password has a control, invisible or unassigned character; leave it out"
    }
  }
}
