import SignetJSON

/// The option of `signet-server init` that sets a rule of a password policy.
package struct PasswordOption: Sendable {
  /// The name without dashes; `docs/protocol.md` section 3.4 has the rules.
  package let name: String
  /// The phrase of the help.
  package let help: String
  /// The value where the option is left out.
  package let standard: Int?

  init(_ name: String, _ help: String, default standard: Int? = nil) {
    self.name = name
    self.help = help
    self.standard = standard
  }
}

extension PasswordPolicy {
  /// The options, with the rules that they set in the JSON form and the numbers that they take; one without is a flag.
  package static let options = PasswordRules.rows.compactMap { row in
    row.details.option.map { (option: $0, rule: row.rule.member, range: row.range) }
  }

  /// The tables of `docs/policies.md`: of the rules that a password can break, and of the others.
  package static let documentedRules = [true, false].map { isAboutPasswords in
    PasswordRules.rows.filter { ($0.details.violation != nil) == isAboutPasswords }.map { row in
      let unit = row.details.unit.map { "\($0), " } ?? ""
      let values = row.range.map { "\(unit)\($0.lowerBound) to \($0.upperBound)" } ?? "true or false; 1 or 0"
      let standard = row.details.standard ?? row.value(.absent)?.json.text ?? ""
      return "| `\(row.rule.name)` | `\(row.rule.code)` | \(values) | \(standard) | \(row.details.meaning) |"
    }
  }
}
