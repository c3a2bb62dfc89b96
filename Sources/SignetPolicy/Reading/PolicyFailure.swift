public import SignetJSON

/// Why a policy was refused.
///
/// Rules carry their names in the JSON form, such as `minLength`. Errors in the form of a policy string carry its code, such
/// as `MINLEN`.
@nonexhaustive public enum PolicyFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The value of a rule is out of its allowed range.
  case outOfRange(rule: String, value: Int, allowed: ClosedRange<Int>)

  /// No password can satisfy these rules together.
  case contradiction(rules: [String])

  /// This version does not know the member; a policy is never enforced in part.
  case unknownRule(String)

  /// This version does not know the `type` of the policy.
  case unknownType(String)

  /// A member is missing or has the wrong type.
  case malformed(JSONFailure)

  /// The policy string exceeds the size limit.
  case tooLong(byteCount: Int, limit: Int)

  /// A part of the policy string is not `NAME=value`.
  case notAPair(String)

  /// The value of a code in the policy string has the wrong kind.
  case notAValue(rule: String, expected: String)

  /// The policy string has a code twice.
  case repeatedRule(String)

  /// Returns the type in the spelling of the JSON form, if only the case differs.
  private static func remedy(unknownType name: String) -> String {
    let found = ProtectionType.rows.map(\.name).first { $0.lowercased() == name.lowercased() }
    return found.map { "write \"\($0)\"" } ?? "use another type or update this software"
  }

  /// The rules at fault, the most relevant first.
  public var rules: [String] {
    switch self {
    case .outOfRange(let rule, _, _), .notAValue(let rule, _), .repeatedRule(let rule),
      .unknownRule(let rule):
      [rule]
    case .contradiction(let rules): rules
    case .unknownType: [PolicyRule.type.name]
    case .malformed(.missingMember(let member)), .malformed(.wrongType(let member, _)): [member]
    case .malformed, .tooLong, .notAPair: []
    }
  }

  /// The cause and the remedy.
  public var description: String {
    switch self {
    case .outOfRange(let rule, let value, let allowed):
      "\(rule) is \(value); use \(allowed.lowerBound) to \(allowed.upperBound)"
    case .contradiction(let rules):
      "no password satisfies \(rules.joined(separator: ", ")) together; relax one of them"
    case .unknownRule(let name):
      "rule \"\(name.prefix(40))\" is unknown here; remove it or update this software"
    case .unknownType(let name):
      "policy type \"\(name.prefix(40))\" is unknown here; \(Self.remedy(unknownType: name))"
    case .malformed(let failure):
      failure.description
    case .tooLong(let byteCount, let limit):
      "the policy string has \(byteCount) bytes; use at most \(limit)"
    case .notAPair(let text):
      "\"\(text)\" is not NAME=value; separate such pairs with \";\""
    case .notAValue(let rule, let expected):
      "\(rule) has a value of the wrong type; use \(expected)"
    case .repeatedRule(let code):
      "\(code) occurs twice; remove one of them"
    }
  }
}
