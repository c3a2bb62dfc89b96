/// A linter's finding about a policy.
public struct PolicyFinding: Sendable, Hashable, CustomStringConvertible {
  /// The severity of a finding.
  public enum Severity: String, Sendable, Hashable, CaseIterable {
    /// The policy cannot be used.
    case error
    /// The policy can be used, but is probably not intended.
    case warning
    /// The policy is valid, but does not meet a profile.
    case profile
  }

  /// The finding's severity.
  public let severity: Severity
  /// The rules concerned, by their names in the JSON form, the one at fault first; empty if it concerns the whole policy.
  ///
  /// For an error in the form of a policy string these are the codes.
  public let rules: [String]
  /// The profile that is not met.
  public let profile: PolicyProfile?
  /// The section of the standard, or of `docs/policies.md`, with the requirement.
  public let clause: String?
  /// The cause and the remedy, without the clause.
  public let message: String

  init(
    _ severity: Severity, named rules: [String], _ message: String, profile: PolicyProfile? = nil,
    clause: String? = nil
  ) {
    self.severity = severity
    self.rules = rules
    self.profile = profile
    self.clause = clause
    self.message = message
  }

  init(
    _ severity: Severity, _ rules: [PolicyRule], _ message: String, profile: PolicyProfile? = nil,
    clause: String? = nil
  ) {
    self.init(severity, named: rules.map(\.name), message, profile: profile, clause: clause)
  }

  /// The rule at fault; `nil` where it is the whole policy.
  public var rule: String? { rules.first }

  /// The rules that conflict with the one at fault.
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
  /// Creates an error finding.
  ///
  /// - Parameters:
  ///   - failure: Why the policy is refused.
  ///   - values: The numbers of the rules, if known.
  init(_ failure: PolicyFailure, values: [String: Int]) {
    var message = failure.description
    if case .contradiction(let rules) = failure {
      let named = rules.map { name in
        let code = PolicyRule.all.first { $0.name == name }.map { " (\($0.code))" } ?? ""
        return name + code + (values[name].map { " \($0)" } ?? "")
      }
      message = "no password satisfies \(named.joined(separator: " and ")) together; relax one of them"
    }
    self.init(.error, named: failure.rules, message)
  }

  init(unknownCode code: String) {
    let code = String(code.prefix(40))
    self.init(
      .warning, named: [code],
      "\"\(code)\" is unknown here and is left out; check whether the policy is complete without it")
  }

  /// Creates a warning about a code that the type of the policy or of the lock does not use.
  init(idleCode code: String) {
    self.init(
      .warning, named: [code], "\(code) has no meaning for this type; leave it out or change the type")
  }

  /// Creates a warning about an unset length and its default.
  init(unset rule: PolicyRule, standard: Int) {
    self.init(.warning, [rule], "\(rule.code) is not set and counts as \(standard); set it")
  }
}
