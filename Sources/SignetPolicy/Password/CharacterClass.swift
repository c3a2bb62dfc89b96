/// The kinds of characters that a password policy counts.
///
/// Every code point is exactly one of letter, digit and non-alphanumeric; upper case and lower case are kinds
/// of letters, and letters of scripts without case are neither.
public enum CharacterClass: Sendable, Hashable, CaseIterable {
  /// Upper-case letters (Unicode property Uppercase).
  case uppercase
  /// Lower-case letters (Unicode property Lowercase).
  case lowercase
  /// Letters of any script, with or without case (Unicode property Alphabetic).
  case letter
  /// Decimal digits of any script (Unicode general category Nd).
  case digit
  /// Everything else: punctuation, symbols, spaces.
  case nonAlphanumeric

  /// Whether `scalar` counts as this class.
  public func contains(_ scalar: Unicode.Scalar) -> Bool {
    switch self {
    case .uppercase: scalar.properties.isUppercase
    case .lowercase: scalar.properties.isLowercase
    case .letter: scalar.properties.isAlphabetic
    case .digit: scalar.properties.generalCategory == .decimalNumber
    case .nonAlphanumeric: !Self.letter.contains(scalar) && !Self.digit.contains(scalar)
    }
  }

  /// The name of the rule that asks for at least so many, as in the JSON form.
  public var minimumRule: String { "min" + ruleSuffix }

  /// The name of the rule that allows at most so many, as in the JSON form.
  public var maximumRule: String { "max" + ruleSuffix }

  /// What people call the class, in the plural.
  public var noun: String {
    switch self {
    case .uppercase: "upper-case letters"
    case .lowercase: "lower-case letters"
    case .letter: "letters"
    case .digit: "digits"
    case .nonAlphanumeric: "characters that are neither letters nor digits"
    }
  }

  private var ruleSuffix: String {
    switch self {
    case .uppercase: "Uppercase"
    case .lowercase: "Lowercase"
    case .letter: "Letters"
    case .digit: "Digits"
    case .nonAlphanumeric: "NonAlphanumeric"
    }
  }
}

/// How many characters of a class a password may have.
public struct CharacterCount: Sendable, Hashable {
  /// At least so many, 0 or more.
  public var minimum: Int

  /// At most so many; `nil` means as many as the password may be long.
  public var maximum: Int?

  /// Bounds on a count; without arguments, any number.
  public init(minimum: Int = 0, maximum: Int? = nil) {
    self.minimum = minimum
    self.maximum = maximum
  }

  /// Any number, from none to the whole password.
  public static let any = CharacterCount()

  /// Not a single one.
  public static let none = CharacterCount(maximum: 0)
}
