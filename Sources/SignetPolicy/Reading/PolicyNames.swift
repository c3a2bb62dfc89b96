// The names of the JSON form, for readers that report the position of an error in a larger text.

extension ProtectionPolicy {
  /// The types with a `password` and a `lock`.
  package static let typeNamesWithPassword = PolicyReading.typesWithPassword
  /// All types.
  package static let typeNames = PolicyReading.typesWithPassword + PolicyReading.typesWithout
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
