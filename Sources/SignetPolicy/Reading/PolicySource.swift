import SignetJSON

/// Where the rules of a policy are read from: a policy string, or an object of the JSON form.
///
/// A source gives what is usable and notes the rest in ``failures``, so that a reader goes on and a linter can say all
/// that is wrong at once.
protocol PolicySource {
  /// What was wrong so far.
  var failures: [PolicyFailure] { get set }

  /// A whole number, or `nil` where the rule is absent; what fits no `Int` is out of every range as the nearest one.
  mutating func number(_ rule: PolicyRule) -> Int?
  /// Whole numbers in order, or `nil` where the rule is absent.
  mutating func numbers(_ rule: PolicyRule) -> [Int]?
  /// Yes or no, or `nil` where the rule is absent.
  mutating func flag(_ rule: PolicyRule) -> Bool?
  /// A keyword as the JSON form writes it, or `nil` where the rule is absent.
  mutating func word(_ rule: PolicyRule) -> String?
  /// Notes that a rule is absent which this form cannot do without.
  mutating func missing(_ rule: PolicyRule)
  /// Notes members of the JSON form, or codes among `group`, that do not belong to the policy's type.
  mutating func allow(only rules: [PolicyRule], among group: [PolicyRule])
}

extension PasswordRules {
  /// Reads the rules, whether or not they make a policy.
  init(reading source: inout some PolicySource) {
    source.allow(only: PolicyRule.ofPasswords, among: PolicyRule.ofPasswords)
    func required(_ rule: PolicyRule, _ source: inout some PolicySource, else standard: Int) -> Int {
      if let number = source.number(rule) { return number }
      source.missing(rule)
      return standard
    }
    let minimum = required(.minLength, &source, else: PasswordPolicy.allowedLengths.lowerBound)
    let maximum = required(.maxLength, &source, else: PasswordPolicy.allowedLengths.upperBound)
    self.init(minimumLength: minimum, maximumLength: maximum)
    for kind in CharacterClass.allCases {
      self[kind] = CharacterCount(
        minimum: source.number(kind.minimum) ?? 0, maximum: source.number(kind.maximum))
    }
    allowsSequences = source.flag(.allowSequences) ?? false
    maximumRepeats = source.number(.maxRepeats)
    maximumHistory = source.number(.maxHistory) ?? 0
    age = PasswordAge(minimumDays: source.number(.minAge) ?? 0, maximumDays: source.number(.maxAge) ?? 0)
    cache = PasswordCache(
      isEnabled: source.flag(.cacheEnabled) ?? false,
      timeout: source.number(.cacheTimeout) ?? PasswordCache.standardTimeout)
    checksDictionary = source.flag(.dictionary) ?? false
  }
}

extension LockPolicy {
  /// Reads a lock policy, whether or not its numbers are allowed; `nil` where its type is missing or unknown.
  init?(reading source: inout some PolicySource) {
    guard let type = source.word(.lockType) else {
      source.missing(.lockType)
      return nil
    }
    func required(_ rule: PolicyRule, _ source: inout some PolicySource) -> Int? {
      if let number = source.number(rule) { return number }
      source.missing(rule)
      return nil
    }
    if let rules = Self.rules.first(where: { $0.type == type })?.rules {
      source.allow(only: [.lockType] + rules, among: PolicyRule.ofLocks)
    }
    switch type {
    case "none": self = .none
    case "silent": self = .silent
    case "lock":
      guard let limit = required(.limit, &source) else { return nil }
      self = .lock(limit: limit, atLimit: Self.consequence(&source))
    case "delay":
      guard let seconds = required(.delay, &source), let counter = required(.counter, &source) else {
        return nil
      }
      self = .delay(seconds: seconds, counter: counter)
    case "coolDown":
      guard let waits = source.numbers(.waits) else {
        source.missing(.waits)
        return nil
      }
      self = .coolDown(waits: waits, atLimit: Self.consequence(&source))
    default:
      source.failures.append(.unknownType(type))
      return nil
    }
  }

  private static func consequence(_ source: inout some PolicySource) -> LimitConsequence {
    guard let word = source.word(.atLimit) else { return .lockOut }
    if let consequence = LimitConsequence(rawValue: word) { return consequence }
    source.failures.append(.unknownType(word))
    return .lockOut
  }
}
