/// Something that a linter says about a policy.
public struct PolicyFinding: Sendable, Hashable, CustomStringConvertible {
  /// How much a finding matters.
  public enum Severity: String, Sendable, Hashable, CaseIterable {
    /// The policy cannot be used.
    case error
    /// The policy can be used, and is probably not what was meant.
    case warning
    /// The policy is sound, and not what a profile asks for.
    case profile
  }

  /// How much it matters.
  public let severity: Severity
  /// The rules it is about, by their names in the JSON form, the one at fault first; empty where it is about the whole.
  ///
  /// What is wrong with the form of a policy string carries its code instead.
  public let rules: [String]
  /// The profile that asks for something else.
  public let profile: PolicyProfile?
  /// The section of the standard, or of `docs/policies.md`, that asks for it.
  public let clause: String?
  /// What is wrong and what to do, without the clause.
  public let message: String

  init(
    _ severity: Severity, _ rules: [PolicyRule], _ message: String, profile: PolicyProfile? = nil,
    clause: String? = nil
  ) {
    self.severity = severity
    self.rules = rules.map(\.rawValue)
    self.profile = profile
    self.clause = clause
    self.message = message
  }

  /// The rule at fault; `nil` where it is the whole policy.
  public var rule: String? { rules.first }

  /// The rules that the one at fault does not go together with.
  public var conflictsWith: [String] { Array(rules.dropFirst()) }

  /// The whole finding as a sentence.
  public var description: String {
    switch (profile, clause) {
    case (let profile?, let clause?): "\(profile.rawValue), \(clause): \(message)"
    default: message
    }
  }
}

extension PolicyFinding {
  /// What keeps a policy from being used.
  ///
  /// - Parameters:
  ///   - failure: Why it is refused.
  ///   - values: The numbers of the rules, where they are known.
  init(_ failure: PolicyFailure, values: [String: Int]) {
    severity = .error
    rules = failure.rules
    profile = nil
    clause = nil
    guard case .contradiction(let rules) = failure else {
      message = failure.description
      return
    }
    let named = rules.map { name in
      let code = PolicyRule(rawValue: name).map { " (\($0.code))" } ?? ""
      return name + code + (values[name].map { " \($0)" } ?? "")
    }
    message = "no password satisfies \(named.joined(separator: " and ")) together; relax one of them"
  }

  /// A code that nobody here knows.
  init(unknownCode code: String) {
    severity = .warning
    rules = [String(code.prefix(40))]
    profile = nil
    clause = nil
    message =
      "\"\(code.prefix(40))\" is unknown here and is left out; check whether the policy is complete without it"
  }

  /// A code that does not go with the type of the policy or of the lock.
  init(idleCode code: String) {
    severity = .warning
    rules = [code]
    profile = nil
    clause = nil
    message = "\(code) has no meaning for this type; leave it out or change the type"
  }

  /// A length that was not set, and the number that stands for it.
  init(unset rule: PolicyRule, standard: Int) {
    self.init(.warning, [rule], "\(rule.code) is not set and counts as \(standard); set it")
  }
}
