/// All that a policy asks about one character, computed once and kept in eight bytes.
struct CharacterTraits: Sendable {
  private let bits: UInt64

  /// Computes everything from the properties that the standard library has of the character.
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

  /// The same for U+0020 to U+007E, of which most passwords consist, without asking for properties.
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

  /// Whether keys may be derived from a text with it, after spaces have become U+0020.
  var isAllowed: Bool { bits & Flag.allowed != 0 }
  /// Whether it counts as ``CharacterClass/letter``.
  var isLetter: Bool { bits & Flag.letter != 0 }
  /// Whether it counts as ``CharacterClass/uppercase``.
  var isUppercase: Bool { bits & Flag.uppercase != 0 }
  /// Whether it counts as ``CharacterClass/lowercase``.
  var isLowercase: Bool { bits & Flag.lowercase != 0 }
  /// Whether it counts as ``CharacterClass/digit``.
  var isDigit: Bool { bits & Flag.digit != 0 }
  /// Whether it becomes U+0020.
  var isSpace: Bool { bits & Flag.space != 0 }
  /// Whether it stays what it is in Form C (UAX #15, NFC_Quick_Check is Yes): a text of such characters, with marks in order,
  /// is in that form.
  var stays: Bool { bits & Flag.stays != 0 }
  /// Whether normalization changes nothing before it, whatever it does to the character.
  var begins: Bool { bits & Flag.begins != 0 }
  /// Whether it is something else in Form D.
  var hasParts: Bool { bits & Flag.parts != 0 }
  /// The canonical combining class: 0 for all but marks that are put in order.
  var combiningClass: UInt8 { UInt8(truncatingIfNeeded: bits >> Self.combiningClassShift) }
  /// The lower-case form of a letter where that is one code point, else the character itself.
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

  /// The lower-case form where that is one code point, so that `aBc` is a sequence.
  private static func lowerCase(_ scalar: Unicode.Scalar) -> UInt32 {
    let lower = scalar.properties.lowercaseMapping.unicodeScalars
    guard let first = lower.first, lower.count == 1 else { return scalar.value }
    return first.value
  }
}
