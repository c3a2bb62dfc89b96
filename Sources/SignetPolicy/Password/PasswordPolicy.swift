/// Which passwords may be chosen.
///
/// Lengths and counts are in Unicode code points of the password as ``OpaqueString`` prepares it (RFC 8265
/// section 4.2), so the same password counts the same on every keyboard and device. A policy that exists can
/// be satisfied as far as its counts go: contradictions are refused when it is made.
public struct PasswordPolicy: Sendable, Hashable {
  /// The least number of code points, in ``allowedLengths``.
  public let minimumLength: Int
  /// The greatest number of code points, in ``allowedLengths``.
  public let maximumLength: Int
  /// Whether runs such as `abc`, `321` or `Xyz` may occur.
  ///
  /// A run is ``sequenceLength`` or more letters or digits, each the code point after its neighbour or each
  /// the one before, upper and lower case taken as the same.
  public let allowsSequences: Bool
  /// How often one character may follow itself, counting the first: 2 allows `aa` and refuses `aaa`.
  ///
  /// `nil` sets no limit. Case matters here.
  public let maximumRepeats: Int?
  /// How many of the latest passwords, the current one included, a new one must differ from; 0 allows any.
  public let maximumHistory: Int
  /// How soon a password may be changed, and how soon it must be.
  public let age: PasswordAge
  /// Whether a verified password may serve one later signature.
  public let cache: PasswordCache
  /// Whether words of a dictionary, and what is made from them in obvious ways, are refused.
  public let checksDictionary: Bool
  private let uppercase: CharacterCount
  private let lowercase: CharacterCount
  private let letters: CharacterCount
  private let digits: CharacterCount
  private let nonAlphanumerics: CharacterCount

  /// The lengths that a policy may ask for, in code points.
  public static let allowedLengths = 1...256
  /// How many passwords a policy may ask to be remembered.
  public static let allowedHistory = 0...100
  /// The length from which neighbours in alphabetical or numerical order are a sequence.
  public static let sequenceLength = 3

  /// Makes a policy, unless its rules contradict each other.
  ///
  /// - Parameters:
  ///   - minimumLength: The least number of code points, 1 to 256.
  ///   - maximumLength: The greatest number of code points, 1 to 256.
  ///   - uppercase: How many upper-case letters.
  ///   - lowercase: How many lower-case letters.
  ///   - letters: How many letters, those with case included.
  ///   - digits: How many decimal digits.
  ///   - nonAlphanumerics: How many characters that are neither letters nor digits.
  ///   - allowsSequences: Whether runs such as `abc` or `321` may occur.
  ///   - maximumRepeats: How often one character may follow itself, 1 to 256; `nil` sets no limit.
  ///   - maximumHistory: How many of the latest passwords a new one must differ from, in ``allowedHistory``.
  ///   - age: How soon a password may be changed, and how soon it must be.
  ///   - cache: Whether a verified password may serve one later signature.
  ///   - checksDictionary: Whether words of a dictionary are refused.
  /// - Throws: ``PolicyFailure/outOfRange(rule:value:allowed:)``, or
  ///   ``PolicyFailure/contradiction(rules:)`` with the rules that no password satisfies together.
  public init(
    minimumLength: Int, maximumLength: Int,
    uppercase: CharacterCount = .any, lowercase: CharacterCount = .any, letters: CharacterCount = .any,
    digits: CharacterCount = .any, nonAlphanumerics: CharacterCount = .any,
    allowsSequences: Bool = false, maximumRepeats: Int? = nil, maximumHistory: Int = 0,
    age: PasswordAge = .unlimited, cache: PasswordCache = .disabled, checksDictionary: Bool = false
  ) throws(PolicyFailure) {
    self.minimumLength = minimumLength
    self.maximumLength = maximumLength
    self.allowsSequences = allowsSequences
    self.maximumRepeats = maximumRepeats
    self.maximumHistory = maximumHistory
    self.age = age
    self.cache = cache
    self.checksDictionary = checksDictionary
    self.uppercase = uppercase
    self.lowercase = lowercase
    self.letters = letters
    self.digits = digits
    self.nonAlphanumerics = nonAlphanumerics
    try checkBounds()
    try checkContradictions()
  }

  /// A policy for numeric passwords (PINs): ASCII or other decimal digits and nothing else.
  ///
  /// - Parameter length: The number of digits, within 1 to 256.
  /// - Returns: A policy that allows digits only, and no sequences.
  /// - Throws: ``PolicyFailure/outOfRange(rule:value:allowed:)``.
  public static func pin(_ length: ClosedRange<Int>) throws(PolicyFailure) -> PasswordPolicy {
    try PasswordPolicy(
      minimumLength: length.lowerBound, maximumLength: length.upperBound,
      letters: .none, digits: CharacterCount(minimum: length.lowerBound), nonAlphanumerics: .none)
  }

  /// The bounds of a class as they were set; see ``maximum(of:)`` for what an unset maximum means.
  public func count(of kind: CharacterClass) -> CharacterCount {
    switch kind {
    case .uppercase: uppercase
    case .lowercase: lowercase
    case .letter: letters
    case .digit: digits
    case .nonAlphanumeric: nonAlphanumerics
    }
  }

  /// At least so many characters of `kind`.
  public func minimum(of kind: CharacterClass) -> Int { count(of: kind).minimum }

  /// At most so many characters of `kind`: the maximum length where no smaller number was set.
  public func maximum(of kind: CharacterClass) -> Int {
    min(count(of: kind).maximum ?? maximumLength, maximumLength)
  }
}

/// The names of the rules that are not about a class of characters, as in the JSON form.
enum RuleName {
  static let minimumLength = "minLength"
  static let maximumLength = "maxLength"
  static let allowsSequences = "allowSequences"
  static let maximumRepeats = "maxRepeats"
  static let maximumHistory = "maxHistory"
  static let minimumAge = "minAge"
  static let maximumAge = "maxAge"
  static let cacheEnabled = "cacheEnabled"
  static let cacheTimeout = "cacheTimeout"
  static let dictionary = "dictionary"
}
