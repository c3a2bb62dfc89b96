// The names of the JSON form, for readers that say where in a larger text a mistake is.

extension ProtectionPolicy {
  /// The types that have `password` and `lock`.
  package static let typeNamesWithPassword = PolicyReading.typesWithPassword
  /// All types.
  package static let typeNames = PolicyReading.typesWithPassword + PolicyReading.typesWithout
}

extension PasswordPolicy {
  /// The rules.
  package static let ruleNames = PolicyRule.ofPasswords.map(\.rawValue)
}

extension LockPolicy {
  /// The types, and the rules of each besides its type.
  static let rules: [(type: String, rules: [PolicyRule])] = [
    ("none", []), ("lock", [.limit, .atLimit]), ("delay", [.delay, .counter]),
    ("coolDown", [.waits, .atLimit]), ("silent", []),
  ]

  /// The types.
  package static let typeNames = rules.map(\.type)

  /// The rules of a type, or of all types, besides the type.
  package static func ruleNames(ofType type: String? = nil) -> [String] {
    rules.filter { type == nil || $0.type == type }.flatMap(\.rules).map(\.rawValue)
  }
}
