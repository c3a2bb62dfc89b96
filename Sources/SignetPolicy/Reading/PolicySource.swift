import SignetJSON

/// A source of a policy's rules: a policy string, or an object in the JSON form.
///
/// A source returns the usable values and records errors in ``failures``: reading continues, and a linter can report all
/// errors at once.
protocol PolicySource {
  var failures: [PolicyFailure] { get set }

  /// Reads a whole number; `nil` if the rule is absent. A number that does not fit `Int` is clamped and so out of range.
  mutating func number(_ rule: PolicyRule) -> Int?
  /// Reads a list of whole numbers; `nil` if the rule is absent.
  mutating func numbers(_ rule: PolicyRule) -> [Int]?
  /// Reads a Boolean; `nil` if the rule is absent.
  mutating func flag(_ rule: PolicyRule) -> Bool?
  /// Reads a keyword, spelled as in the JSON form; `nil` if the rule is absent.
  mutating func word(_ rule: PolicyRule) -> String?
  /// Records that a rule is absent which this form requires.
  mutating func missing(_ rule: PolicyRule)
  /// Records members of the JSON form, or codes among `group`, that do not belong to the policy's type.
  mutating func allow(only rules: [PolicyRule], among group: [PolicyRule])
}

extension PasswordRules {
  /// Reads the rules; they may not form a valid policy.
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
  /// Reads a lock policy, whose numbers may be out of range; `nil` if its type is missing or unknown.
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
