import SignetJSON

/// A source of a policy's rules: a policy string, or an object in the JSON form.
///
/// A source gives what is usable and notes the rest in ``failures``, so that a reader goes on and a linter can say all
/// that is wrong at once.
protocol PolicySource: AnyObject {
  /// What was wrong so far.
  var failures: [PolicyFailure] { get set }

  /// A whole number, or `nil` where the rule is absent; what fits no `Int` is out of every range as the nearest one.
  func number(_ rule: PolicyRule) -> Int?
  /// Whole numbers in order, or `nil` where the rule is absent.
  func numbers(_ rule: PolicyRule) -> [Int]?
  /// Yes or no, or `nil` where the rule is absent.
  func flag(_ rule: PolicyRule) -> Bool?
  /// A type as the JSON form writes it, or `nil` where the rule is absent.
  func word(_ rule: PolicyRule) -> String?
  /// What happens at the limit, or `nil` where the rule is absent.
  func consequence(_ rule: PolicyRule) -> LimitConsequence?
  /// Notes that a required rule is absent; a string has the default, where there is one.
  func missing(_ rule: PolicyRule, default: Int?)
  /// Notes members of the JSON form, or codes among `group`, that do not belong to the policy's type.
  func allow(only rules: [PolicyRule], among group: [PolicyRule])
}

/// The value of a rule.
enum PolicyValue: Sendable, Hashable {
  case number(Int), numbers([Int]), flag(Bool), consequence(LimitConsequence)

  /// The value of a member.
  var json: JSONValue {
    switch self {
    case .number(let number): .integer(Int64(number))
    case .numbers(let numbers): .array(numbers.map { .integer(Int64($0)) })
    case .flag(let flag): .bool(flag)
    case .consequence(let consequence): .string(consequence.rawValue)
    }
  }

  /// What stands after the code.
  var text: String {
    switch self {
    case .number(let number): String(number)
    case .numbers(let numbers): numbers.map(String.init).joined(separator: ",")
    case .flag(let flag): flag ? "1" : "0"
    case .consequence(let consequence): consequence == .wipe ? "1" : "0"
    }
  }

  /// The number, or that of a flag in a policy string.
  var asNumber: Int { self == .flag(true) ? 1 : number ?? 0 }

  /// The number of a rule that is one.
  var number: Int? {
    if case .number(let number) = self { number } else { nil }
  }
}
