/// The rules of a password policy, whether or not a password can satisfy them.
///
/// ``PasswordPolicy/init(_:)`` makes a policy of them and refuses contradictions; ``PolicyReview`` says all that is wrong.
public struct PasswordRules: Sendable, Hashable {
  /// The least number of code points.
  public var minimumLength: Int
  /// The greatest number of code points.
  public var maximumLength: Int
  /// How many upper-case letters.
  public var uppercase = CharacterCount.any
  /// How many lower-case letters.
  public var lowercase = CharacterCount.any
  /// How many letters, those with case included.
  public var letters = CharacterCount.any
  /// How many decimal digits.
  public var digits = CharacterCount.any
  /// How many characters that are neither letters nor digits.
  public var nonAlphanumerics = CharacterCount.any
  /// Whether runs such as `abc`, `321` or `Xyz` may occur.
  ///
  /// A run is ``PasswordPolicy/sequenceLength`` or more letters or digits, each the code point after its neighbour or
  /// each the one before, upper and lower case taken as the same.
  public var allowsSequences = false
  /// How often one character may follow itself, counting the first: 2 allows `aa` and refuses `aaa`.
  ///
  /// `nil` sets no limit. Case matters here.
  public var maximumRepeats: Int?
  /// How many of the latest passwords, the current one included, a new one must differ from; 0 allows any.
  public var maximumHistory = 0
  /// How soon a password may be changed, and how soon it must be.
  public var age = PasswordAge.unlimited
  /// Whether a verified password may serve one later signature.
  public var cache = PasswordCache.disabled
  /// Whether words of a dictionary, and what is made from them in obvious ways, are refused.
  public var checksDictionary = false

  /// Rules about the length only, and no sequences.
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

  /// At least so many characters of `kind`.
  public func minimum(of kind: CharacterClass) -> Int { self[kind].minimum }

  /// At most so many characters of `kind`: the maximum length where no smaller number was set.
  public func maximum(of kind: CharacterClass) -> Int {
    min(self[kind].maximum ?? maximumLength, maximumLength)
  }
}
