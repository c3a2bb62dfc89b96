/// The traits of one character that a policy needs, computed once and packed into eight bytes.
struct CharacterTraits: Sendable {
  private let bits: UInt64

  /// Computes the traits from the standard library's properties.
  init(_ scalar: Unicode.Scalar) {
    let isSpace = scalar.properties.generalCategory == .spaceSeparator
    let isLetter = CharacterClass.letter.contains(scalar)
    var bits = UInt64(isLetter ? Self.lowerCase(scalar) : scalar.value)
    if OpaqueString.allows(scalar) || isSpace { bits |= Flag.allowed }
    if isLetter { bits |= Flag.letter }
    if CharacterClass.uppercase.contains(scalar) { bits |= Flag.uppercase }
    if CharacterClass.lowercase.contains(scalar) { bits |= Flag.lowercase }
    if CharacterClass.digit.contains(scalar) { bits |= Flag.digit }
    if isSpace { bits |= Flag.space }
    let forms = CanonicalForms.all
    let parts = forms.parts(of: scalar)
    let combiningClass = scalar.properties.canonicalCombiningClass.rawValue
    if parts != nil { bits |= Flag.parts }
    if (parts?.first?.combiningClass ?? combiningClass) == 0, !forms.joins(parts?.first?.scalar ?? scalar) {
      bits |= Flag.begins
    }
    if !scalar.properties.isFullCompositionExclusion, !forms.joins(scalar) { bits |= Flag.stays }
    self.bits = bits | UInt64(combiningClass) << Self.combiningClassShift
  }

  /// Computes the traits of U+0020 to U+007E without a property lookup; most passwords consist of these.
  init(visibleASCII scalar: Unicode.Scalar) {
    let isUppercase = "A"..."Z" ~= scalar
    let isLowercase = "a"..."z" ~= scalar
    var bits = UInt64(scalar.value) | Flag.allowed | Flag.stays | Flag.begins
    bits |= isUppercase ? Flag.letter | Flag.uppercase | 0x20 : 0  // bit 0x20 is the case of a letter
    bits |= isLowercase ? Flag.letter | Flag.lowercase : 0
    bits |= "0"..."9" ~= scalar ? Flag.digit : 0
    bits |= scalar == " " ? Flag.space : 0
    self.bits = bits
  }

  /// True if a password may contain it, after spaces have become U+0020.
  var isAllowed: Bool { bits & Flag.allowed != 0 }
  var isLetter: Bool { bits & Flag.letter != 0 }
  var isUppercase: Bool { bits & Flag.uppercase != 0 }
  var isLowercase: Bool { bits & Flag.lowercase != 0 }
  var isDigit: Bool { bits & Flag.digit != 0 }
  /// True if it is a space and becomes U+0020.
  var isSpace: Bool { bits & Flag.space != 0 }
  /// True if Form C keeps it unchanged (UAX #15, NFC_Quick_Check is Yes).
  ///
  /// A text of such characters, with its marks in canonical order, is in Form C.
  var stays: Bool { bits & Flag.stays != 0 }
  /// True if normalization of this character cannot change the text before it.
  var begins: Bool { bits & Flag.begins != 0 }
  /// True if it decomposes in Form D.
  var hasParts: Bool { bits & Flag.parts != 0 }
  /// The canonical combining class: 0 for all but marks that are reordered.
  var combiningClass: UInt8 { UInt8(truncatingIfNeeded: bits >> Self.combiningClassShift) }
  /// The lower-case form of a letter if that is one code point, otherwise the character.
  var folded: UInt32 { UInt32(truncatingIfNeeded: bits) }

  private enum Flag {
    static let allowed: UInt64 = 1 << 32
    static let letter: UInt64 = 1 << 33
    static let uppercase: UInt64 = 1 << 34
    static let lowercase: UInt64 = 1 << 35
    static let digit: UInt64 = 1 << 36
    static let space: UInt64 = 1 << 37
    static let stays: UInt64 = 1 << 38
    static let begins: UInt64 = 1 << 39
    static let parts: UInt64 = 1 << 40
  }

  private static let combiningClassShift = 48

  /// Returns the lower-case form if it is one code point, so that `aBc` counts as a sequence.
  private static func lowerCase(_ scalar: Unicode.Scalar) -> UInt32 {
    let lower = scalar.properties.lowercaseMapping.unicodeScalars
    guard let first = lower.first, lower.count == 1 else { return scalar.value }
    return first.value
  }
}
