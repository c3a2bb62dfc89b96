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
