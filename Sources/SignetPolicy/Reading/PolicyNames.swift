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
