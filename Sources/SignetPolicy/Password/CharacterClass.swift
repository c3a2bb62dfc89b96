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
  public var minimumRule: String { minimum.rawValue }

  /// The name of the rule that allows at most so many, as in the JSON form.
  public var maximumRule: String { maximum.rawValue }

  /// What people call so many of the class, without the number.
  ///
  /// - Parameter count: How many.
  /// - Returns: A noun in the singular for 1, and else in the plural.
  public func noun(_ count: Int) -> String {
    switch (self, count) {
    case (.uppercase, 1): "upper-case letter"
    case (.uppercase, _): "upper-case letters"
    case (.lowercase, 1): "lower-case letter"
    case (.lowercase, _): "lower-case letters"
    case (.letter, 1): "letter"
    case (.letter, _): "letters"
    case (.digit, 1): "digit"
    case (.digit, _): "digits"
    case (.nonAlphanumeric, 1): "character that is neither a letter nor a digit"
    case (.nonAlphanumeric, _): "characters that are neither letters nor digits"
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
