// The names of the JSON form, for readers that report the position of an error in a larger text.

extension ProtectionPolicy {
  /// The types with a `password` and a `lock`.
  package static let typeNamesWithPassword = PolicyReading.typesWithPassword
  /// All types.
  package static let typeNames = PolicyReading.typesWithPassword + PolicyReading.typesWithout
}

extension PasswordPolicy {
  package static let ruleNames = PolicyRule.ofPasswords.map(\.rawValue)
}

extension LockPolicy {
  /// The types, each with its rules other than `type`.
  static let rules: [(type: String, rules: [PolicyRule])] = [
    ("none", []), ("lock", [.limit, .atLimit]), ("delay", [.delay, .counter]),
    ("coolDown", [.waits, .atLimit]), ("silent", []),
  ]

  package static let typeNames = rules.map(\.type)

  /// Returns the rules of a type, or of all types, other than `type`.
  package static func ruleNames(ofType type: String? = nil) -> [String] {
    rules.filter { type == nil || $0.type == type }.flatMap(\.rules).map(\.rawValue)
  }
}
