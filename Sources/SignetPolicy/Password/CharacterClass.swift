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

  /// The JSON name of the rule for the minimum.
  public var minimumRule: String { PolicyRule.minimum(self).name }

  /// The JSON name of the rule for the maximum.
  public var maximumRule: String { PolicyRule.maximum(self).name }

  /// Returns the noun for characters of the class, without the number.
  ///
  /// - Parameter count: The number of characters.
  /// - Returns: The singular for 1, otherwise the plural.
  public func noun(_ count: Int) -> String {
    if self == .nonAlphanumeric {
      return count == 1
        ? "character that is neither a letter nor a digit" : "characters that are neither letters nor digits"
    }
    return count == 1 ? String(words.plural.dropLast()) : words.plural
  }

  /// The names of a class in rules, codes of policy strings and options, and its plural in lists.
  var words: (rule: String, code: String, option: String, plural: String) {
    switch self {
    case .uppercase: ("Uppercase", "UP", "uppercase", "upper-case letters")
    case .lowercase: ("Lowercase", "LOW", "lowercase", "lower-case letters")
    case .letter: ("Letters", "ALPHA", "letters", "letters")
    case .digit: ("Digits", "NUM", "digits", "digits")
    case .nonAlphanumeric: ("NonAlphanumeric", "NALPHA", "non-alphanumerics", "other characters")
    }
  }
}

extension PolicyRule {
  /// The rule for the minimum of a class.
  static func minimum(_ kind: CharacterClass) -> PolicyRule {
    PolicyRule("min\(kind.words.rule)", code: kind.words.code)
  }

  /// The rule for the maximum of a class.
  static func maximum(_ kind: CharacterClass) -> PolicyRule {
    PolicyRule("max\(kind.words.rule)", code: "M\(kind.words.code)")
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
