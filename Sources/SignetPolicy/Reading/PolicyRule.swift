/// The names of a rule: in findings and the JSON form, and in a policy string.
struct PolicyRule: Sendable, Hashable {
  /// The name in findings, which is that of the JSON form as well; a lock's `type` is `lockType` here.
  let name: String
  /// The code in a policy string.
  ///
  /// The limit of a lock and the counter of a delay share one, as each lock type has one of them.
  let code: String
  /// The member of the JSON form.
  let member: String

  init(_ name: String, code: String, member: String? = nil) {
    self.name = name
    self.code = code
    self.member = member ?? name
  }

  /// The type of a protection policy.
  static let type = PolicyRule("type", code: "TYPE")

  /// The rules of all policies.
  static let all = [.type] + PasswordRules.rules + ofLocks
  static let codes = Set(all.map(\.code))
}

// The names of the JSON form, for readers that report the position of an error in a larger text.

extension ProtectionPolicy {
  /// The types that have `password` and `lock`.
  package static let typeNamesWithPassword = ProtectionType.rows.filter { $0.alone == nil }.map(\.name)
  /// All types.
  package static let typeNames = ProtectionType.rows.map(\.name)
}

extension PasswordPolicy {
  /// The rules.
  package static let ruleNames = PasswordRules.rules.map(\.member)
}

extension LockPolicy {
  /// The types.
  package static let typeNames = LockRules.rows.map(\.type)

  /// Returns the rules of a type, or of all types, other than `type`.
  package static func ruleNames(ofType type: String? = nil) -> [String] {
    LockRules.rows.filter { type == nil || $0.type == type }.flatMap(\.rows).map(\.rule.member)
  }
}
