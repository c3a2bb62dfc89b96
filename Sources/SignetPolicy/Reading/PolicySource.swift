import SignetJSON

/// A source of a policy's rules: a policy string, or an object in the JSON form.
///
/// A source returns usable values and records all others in ``failures``, so that a linter reports every failure at once.
protocol PolicySource: AnyObject {
  /// The failures so far.
  var failures: [PolicyFailure] { get set }

  /// A whole number, or `nil` if the rule is absent. A number that does not fit `Int` becomes the nearest one, which no range allows.
  func number(_ rule: PolicyRule) -> Int?
  /// Whole numbers in order, or `nil` if the rule is absent.
  func numbers(_ rule: PolicyRule) -> [Int]?
  /// A flag, or `nil` if the rule is absent.
  func flag(_ rule: PolicyRule) -> Bool?
  /// A type by its JSON name, or `nil` if the rule is absent.
  func word(_ rule: PolicyRule) -> String?
  /// The consequence at the limit, or `nil` if the rule is absent.
  func consequence(_ rule: PolicyRule) -> LimitConsequence?
  /// Records that a required rule is absent, unless it has a default and the source is a string.
  func missing(_ rule: PolicyRule, default: Int?)
  /// Records members of the JSON form, or codes of `group`, that do not belong to the policy's type.
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

  /// The value after the code.
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
