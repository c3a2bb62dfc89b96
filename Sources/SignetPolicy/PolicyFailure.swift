public import SignetJSON

/// Why a policy was refused.
///
/// Rules carry the names they have in the JSON form, such as `minLength`.
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
    }
  }
}
