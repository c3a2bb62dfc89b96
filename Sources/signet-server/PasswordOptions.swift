import SignetJSON
import SignetPolicy
import SignetTerminal

/// The options of `init` for the password rules; named as in `docs/protocol.md` section 3.4.
enum PasswordOptions {
  static let all = PasswordPolicy.options.map { option, _, range in
    range == nil
      ? Option.flag(option.name, option.help)
      : .value(option.name, option.help, named: "n", default: option.standard.map(String.init))
  }

  static func policy(_ arguments: Arguments) throws -> PasswordPolicy {
    var rules = JSONObject()
    for (option, rule, range) in PasswordPolicy.options {
      if let range {
        rules[rule] = try arguments.optionalInteger(option.name, in: range).map { .integer(Int64($0)) }
      } else {
        rules[rule] = .bool(arguments.isSet(option.name))
      }
    }
    do { return try PasswordPolicy(rules) } catch {
      throw UsageFailure.refused(TerminalText(error.description))
    }
  }
}
