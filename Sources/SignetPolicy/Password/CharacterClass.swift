/// The classes of characters that a password policy counts.
///
/// Every code point is exactly one of letter, digit and non-alphanumeric. Upper case and lower case are subsets of the
/// letters; letters of scripts without case are in neither.
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

  /// Returns true if `scalar` is in this class.
  public func contains(_ scalar: Unicode.Scalar) -> Bool {
    switch self {
    case .uppercase: scalar.properties.isUppercase
    case .lowercase: scalar.properties.isLowercase
    case .letter: scalar.properties.isAlphabetic
    case .digit: scalar.properties.generalCategory == .decimalNumber
    case .nonAlphanumeric: !Self.letter.contains(scalar) && !Self.digit.contains(scalar)
    }
  }

  /// The name of the rule for the minimum, as in the JSON form.
  public var minimumRule: String { minimum.rawValue }

  /// The name of the rule for the maximum, as in the JSON form.
  public var maximumRule: String { maximum.rawValue }

  /// Returns the noun for characters of the class, without the number.
  ///
  /// - Parameter count: The number of characters.
  /// - Returns: The singular for 1, otherwise the plural.
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

/// The bounds on the number of characters of one class.
public struct CharacterCount: Sendable, Hashable {
  /// The minimum, 0 or more.
  public var minimum: Int

  /// The maximum; `nil` means the maximum length of the password.
  public var maximum: Int?

  /// Creates bounds; without arguments, any number is allowed.
  public init(minimum: Int = 0, maximum: Int? = nil) {
    self.minimum = minimum
    self.maximum = maximum
  }

  /// Bounds that allow any number.
  public static let any = CharacterCount()

  /// Bounds that allow none.
  public static let none = CharacterCount(maximum: 0)
}
