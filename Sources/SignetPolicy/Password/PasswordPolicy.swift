/// The rules for new passwords, free of contradictions.
///
/// Lengths and counts are in Unicode code points of the password as ``OpaqueString`` prepares it (RFC 8265
/// section 4.2), so the same password counts the same on every keyboard and device. A policy that exists can
/// be satisfied as far as its counts go: contradictions are refused when it is made.
@dynamicMemberLookup public struct PasswordPolicy: Sendable, Hashable {
  /// The rules, which do not contradict each other.
  public let rules: PasswordRules
  /// The limits of the rules, computed once.
  let limits: [PasswordLimit]

  /// The allowed lengths in a policy, in code points.
  public static let allowedLengths = 1...256
  /// The bounds of a policy on the characters of a class.
  static let allowedCounts = 0...allowedLengths.upperBound
  /// The allowed numbers of remembered passwords.
  public static let allowedHistory = 0...100
  /// The minimum length of a sequence of letters or digits in order.
  public static let sequenceLength = 3
  /// The minimum length that a dictionary check accepts: libpwquality's.
  public static let dictionaryLength = 6

  /// Creates a policy; rejects rules that are out of range or contradict each other.
  ///
  /// - Parameter rules: The rules for a password.
  /// - Throws: ``PolicyFailure/outOfRange(rule:value:allowed:)``, or ``PolicyFailure/contradiction(rules:)`` with the rules
  ///   that no password satisfies together.
  public init(_ rules: PasswordRules) throws(PolicyFailure) {
    if let failure = rules.failures.first { throw failure }
    self.rules = rules
    limits = rules.limits
  }

  /// Creates a policy from the rules that most apps set; rejects contradictions.
  ///
  /// - Parameters:
  ///   - minimumLength: The minimum number of code points, 1 to 256.
  ///   - maximumLength: The maximum number of code points, 1 to 256.
  ///   - uppercase: The bounds on upper-case letters.
  ///   - lowercase: The bounds on lower-case letters.
  ///   - letters: The bounds on letters, those with case included.
  ///   - digits: The bounds on decimal digits.
  ///   - nonAlphanumerics: The bounds on characters that are neither letters nor digits.
  ///   - allowsSequences: True if sequences such as `abc` or `321` are allowed.
  ///   - maximumRepeats: The longest run of one character, 1 to 256; `nil` sets no limit.
  ///   - maximumHistory: The number of latest passwords that a new one must differ from, in ``allowedHistory``.
  ///   - age: The minimum and maximum age of a password.
  ///   - cache: The rule for one later signature with a verified password.
  ///   - checksDictionary: True if dictionary words are rejected.
  /// - Throws: ``PolicyFailure``, with the same cases as ``init(_:)``.
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

  /// Creates a policy for numeric passwords (PINs): decimal digits of ASCII or other scripts, and nothing else.
  ///
  /// - Parameter length: The number of digits, within 1 to 256.
  /// - Returns: A policy that allows digits only, and no sequences.
  /// - Throws: ``PolicyFailure/outOfRange(rule:value:allowed:)``.
  public static func pin(_ length: ClosedRange<Int>) throws(PolicyFailure) -> PasswordPolicy {
    try PasswordPolicy(
      minimumLength: length.lowerBound, maximumLength: length.upperBound,
      letters: .none, nonAlphanumerics: .none)
  }

  /// The value of a rule.
  public subscript<Value>(dynamicMember rule: KeyPath<PasswordRules, Value>) -> Value { rules[keyPath: rule] }

  /// The bounds of a class as they were set; ``maximum(of:)`` resolves an unset maximum.
  public func count(of kind: CharacterClass) -> CharacterCount { rules[kind] }

  /// The minimum number of characters of `kind`.
  public func minimum(of kind: CharacterClass) -> Int { rules.minimum(of: kind) }

  /// The maximum number of characters of `kind`; at most the maximum length.
  public func maximum(of kind: CharacterClass) -> Int { rules.maximum(of: kind) }
}
