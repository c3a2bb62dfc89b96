public import SignetJSON

/// Why a policy was refused.
///
/// Rules carry the names they have in the JSON form, such as `minLength`. What is wrong with the form of a policy string
/// carries its code, such as `MINLEN`.
@nonexhaustive public enum PolicyFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The value of a rule is outside what is allowed.
  case outOfRange(rule: String, value: Int, allowed: ClosedRange<Int>)

  /// No password can satisfy these rules together.
  case contradiction(rules: [String])

  /// A member that this version does not know; a policy that is understood in part is not enforced in part.
  case unknownRule(String)

  /// The `type` of a policy is one that this version does not know.
  case unknownType(String)

  /// A member is missing, or has another type than the rule's.
  case malformed(JSONFailure)

  /// A policy string is longer than any policy.
  case tooLong(byteCount: Int, limit: Int)

  /// A part of a policy string is no `NAME=value`.
  case notAPair(String)

  /// A code of a policy string has a value of another kind.
  case notAValue(rule: String, expected: String)

  /// A policy string has a code twice.
  case repeatedRule(String)

  /// The rules at fault, the first of which is the one to look at.
  public var rules: [String] {
    switch self {
    case .outOfRange(let rule, _, _), .notAValue(let rule, _), .repeatedRule(let rule),
      .unknownRule(let rule):
      [rule]
    case .contradiction(let rules): rules
    case .unknownType: [PolicyRule.type.rawValue]
    case .malformed(.missingMember(let member)), .malformed(.wrongType(let member, _)): [member]
    case .malformed, .tooLong, .notAPair: []
    }
  }

  /// What is wrong and what to change.
  public var description: String {
    switch self {
    case .outOfRange(let rule, let value, let allowed):
      "\(rule) is \(value); use \(allowed.lowerBound) to \(allowed.upperBound)"
    case .contradiction(let rules):
      "no password satisfies \(rules.joined(separator: ", ")) together; relax one of them"
    case .unknownRule(let name):
      "rule \"\(name.prefix(40))\" is unknown here; remove it or update this software"
    case .unknownType(let name):
      "policy type \"\(name.prefix(40))\" is unknown here; use another type or update this software"
    case .malformed(let failure):
      failure.description
    case .tooLong(let byteCount, let limit):
      "the policy string has \(byteCount) bytes; use at most \(limit)"
    case .notAPair(let text):
      "\"\(text)\" is no NAME=value; write such pairs with \";\" between them"
    case .notAValue(let rule, let expected):
      "\(rule) has another kind of value; use \(expected)"
    case .repeatedRule(let code):
      "\(code) is there twice; leave one of them out"
    }
  }
}
