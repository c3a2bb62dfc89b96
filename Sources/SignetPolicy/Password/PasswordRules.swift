/// The rules of a password policy before validation; no password may satisfy them.
///
/// ``PasswordPolicy/init(_:)`` validates them and rejects contradictions; ``PolicyReview`` lists all errors.
public struct PasswordRules: Sendable, Hashable {
  /// The minimum number of code points.
  public var minimumLength: Int
  /// The maximum number of code points.
  public var maximumLength: Int
  /// The bounds on upper-case letters.
  public var uppercase = CharacterCount.any
  /// The bounds on lower-case letters.
  public var lowercase = CharacterCount.any
  /// The bounds on letters, those with case included.
  public var letters = CharacterCount.any
  /// The bounds on decimal digits.
  public var digits = CharacterCount.any
  /// The bounds on characters that are neither letters nor digits.
  public var nonAlphanumerics = CharacterCount.any
  /// True if sequences such as `abc`, `321` or `Xyz` are allowed.
  ///
  /// A sequence is ``PasswordPolicy/sequenceLength`` or more letters or digits, each one code point after the previous or
  /// each one before it. Case is ignored.
  public var allowsSequences = false
  /// The longest run of one character: 2 allows `aa` and rejects `aaa`.
  ///
  /// `nil` sets no limit. Case matters here.
  public var maximumRepeats: Int?
  /// The number of latest passwords, the current one included, that a new one must differ from; 0 allows any.
  public var maximumHistory = 0
  /// The minimum and maximum age of a password.
  public var age = PasswordAge.unlimited
  /// The rule for one later signature with a verified password.
  public var cache = PasswordCache.disabled
  /// True if dictionary words and simple variants of them are rejected.
  public var checksDictionary = false

  /// Creates rules that limit the length and forbid sequences.
  public init(minimumLength: Int, maximumLength: Int) {
    self.minimumLength = minimumLength
    self.maximumLength = maximumLength
  }

  /// The bounds of a class as they were set.
  public subscript(kind: CharacterClass) -> CharacterCount {
    get {
      switch kind {
      case .uppercase: uppercase
      case .lowercase: lowercase
      case .letter: letters
      case .digit: digits
      case .nonAlphanumeric: nonAlphanumerics
      }
    }
    set {
      switch kind {
      case .uppercase: uppercase = newValue
      case .lowercase: lowercase = newValue
      case .letter: letters = newValue
      case .digit: digits = newValue
      case .nonAlphanumeric: nonAlphanumerics = newValue
      }
    }
  }

  /// The minimum number of characters of `kind`.
  public func minimum(of kind: CharacterClass) -> Int { self[kind].minimum }

  /// The maximum number of characters of `kind`; at most the maximum length.
  public func maximum(of kind: CharacterClass) -> Int {
    min(self[kind].maximum ?? maximumLength, maximumLength)
  }
}
