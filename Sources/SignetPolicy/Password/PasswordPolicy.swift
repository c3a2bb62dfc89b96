/// Which passwords may be chosen.
///
/// Lengths and counts are in Unicode code points of the password as ``OpaqueString`` prepares it (RFC 8265
/// section 4.2), so the same password counts the same on every keyboard and device. A policy that exists can
/// be satisfied as far as its counts go: contradictions are refused when it is made.
public struct PasswordPolicy: Sendable, Hashable {
  /// The rules, which do not contradict each other.
  public let rules: PasswordRules

  /// The lengths that a policy may ask for, in code points.
  public static let allowedLengths = 1...256
  /// How many passwords a policy may ask to be remembered.
  public static let allowedHistory = 0...100
  /// The length from which neighbours in alphabetical or numerical order are a sequence.
  public static let sequenceLength = 3
  /// The length below which a dictionary check refuses every password: libpwquality's.
  public static let dictionaryLength = 6

  /// Makes a policy, unless its rules contradict each other.
  ///
  /// - Parameter rules: What is asked of a password.
  /// - Throws: ``PolicyFailure/outOfRange(rule:value:allowed:)``, or
  ///   ``PolicyFailure/contradiction(rules:)`` with the rules that no password satisfies together.
  public init(_ rules: PasswordRules) throws(PolicyFailure) {
    if let failure = rules.failures.first { throw failure }
    self.rules = rules
  }

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
  /// - Throws: As ``init(_:)``.
  public init(
    minimumLength: Int, maximumLength: Int,
    uppercase: CharacterCount = .any, lowercase: CharacterCount = .any, letters: CharacterCount = .any,
    digits: CharacterCount = .any, nonAlphanumerics: CharacterCount = .any,
    allowsSequences: Bool = false, maximumRepeats: Int? = nil, maximumHistory: Int = 0,
    age: PasswordAge = .unlimited, cache: PasswordCache = .disabled, checksDictionary: Bool = false
  ) throws(PolicyFailure) {
    var rules = PasswordRules(minimumLength: minimumLength, maximumLength: maximumLength)
    rules.uppercase = uppercase
    rules.lowercase = lowercase
    rules.letters = letters
    rules.digits = digits
    rules.nonAlphanumerics = nonAlphanumerics
    rules.allowsSequences = allowsSequences
    rules.maximumRepeats = maximumRepeats
    rules.maximumHistory = maximumHistory
    rules.age = age
    rules.cache = cache
    rules.checksDictionary = checksDictionary
    try self.init(rules)
  }

  /// A policy for numeric passwords (PINs): ASCII or other decimal digits and nothing else.
  ///
  /// - Parameter length: The number of digits, within 1 to 256.
  /// - Returns: A policy that allows digits only, and no sequences.
  /// - Throws: ``PolicyFailure/outOfRange(rule:value:allowed:)``.
  public static func pin(_ length: ClosedRange<Int>) throws(PolicyFailure) -> PasswordPolicy {
    try PasswordPolicy(
      minimumLength: length.lowerBound, maximumLength: length.upperBound,
      letters: .none, nonAlphanumerics: .none)
  }

  /// The least number of code points, in ``allowedLengths``.
  public var minimumLength: Int { rules.minimumLength }
  /// The greatest number of code points, in ``allowedLengths``.
  public var maximumLength: Int { rules.maximumLength }
  /// Whether runs such as `abc`, `321` or `Xyz` may occur; see ``PasswordRules/allowsSequences``.
  public var allowsSequences: Bool { rules.allowsSequences }
  /// How often one character may follow itself; see ``PasswordRules/maximumRepeats``.
  public var maximumRepeats: Int? { rules.maximumRepeats }
  /// How many of the latest passwords, the current one included, a new one must differ from; 0 allows any.
  public var maximumHistory: Int { rules.maximumHistory }
  /// How soon a password may be changed, and how soon it must be.
  public var age: PasswordAge { rules.age }
  /// Whether a verified password may serve one later signature.
  public var cache: PasswordCache { rules.cache }
  /// Whether words of a dictionary, and what is made from them in obvious ways, are refused.
  public var checksDictionary: Bool { rules.checksDictionary }

  /// The bounds of a class as they were set; see ``maximum(of:)`` for what an unset maximum means.
  public func count(of kind: CharacterClass) -> CharacterCount { rules[kind] }

  /// At least so many characters of `kind`.
  public func minimum(of kind: CharacterClass) -> Int { rules.minimum(of: kind) }

  /// At most so many characters of `kind`: the maximum length where no smaller number was set.
  public func maximum(of kind: CharacterClass) -> Int { rules.maximum(of: kind) }
}
