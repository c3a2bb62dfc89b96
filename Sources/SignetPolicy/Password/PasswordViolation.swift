/// A rule that a password breaks.
///
/// It states the requirement, never the password.
public struct PasswordViolation: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name of the broken rule, for programs: the rule's name in the JSON form of the policy, or
  /// `disallowedCharacter` or `encoding`, which every policy has.
  public let rule: String
  /// The number that the rule asks for; `nil` where it has none.
  public let bound: Int?
  /// The sentence of a violation that belongs to no row.
  private let sentence: String?

  /// The violation of a limit; a flag has no number.
  init(_ limit: PasswordLimit) {
    self.init(PasswordRules.rules[limit.row], limit.bound == .atMost(.sequence) ? nil : limit.number)
  }

  private init(_ rule: PolicyRule, _ bound: Int? = nil) {
    self.rule = rule.name
    self.bound = bound
    sentence = nil
  }

  private init(name: String, sentence: String) {
    rule = name
    bound = nil
    self.sentence = sentence
  }

  /// What to do, with the number needed.
  public var description: String {
    if let sentence { return sentence }
    let row = PasswordRules.rows.first { $0.rule.name == rule }
    guard let sentence = row?.details.violation else { preconditionFailure("no password breaks \(rule)") }
    return sentence(bound ?? 0)
  }

  /// Shorter than the minimum length, in code points.
  public static func tooShort(minimum: Int) -> Self { Self(.minLength, minimum) }
  /// Longer than the maximum length, in code points.
  public static func tooLong(maximum: Int) -> Self { Self(.maxLength, maximum) }
  /// Fewer characters of a class than asked for.
  public static func tooFew(_ kind: CharacterClass, minimum: Int) -> Self { Self(.minimum(kind), minimum) }
  /// More characters of a class than allowed.
  public static func tooMany(_ kind: CharacterClass, maximum: Int) -> Self { Self(.maximum(kind), maximum) }
  /// Three or more letters or digits in order, such as `abc` or `321`.
  public static let sequence = Self(.allowSequences)
  /// One character more often in a row than allowed.
  public static func repetition(maximum: Int) -> Self { Self(.maxRepeats, maximum) }
  /// Among the passwords that must not be used again.
  public static func reused(history: Int) -> Self { Self(.maxHistory, history) }
  /// A word of a dictionary, or made from one in an obvious way.
  public static let inDictionary = Self(.dictionary)
  /// A rule that the app brought itself; the name and the sentence are the app's.
  public static func custom(rule: String, message: String) -> Self {
    Self(name: rule, sentence: message)
  }
  /// A control character, or another that RFC 8264 keeps out of free text, such as U+0640.
  public static let disallowedCharacter = Self(
    name: "disallowedCharacter",
    sentence:
      "leave out control, invisible, private-use and unassigned characters, and others that RFC 8264 disallows"
  )
  /// Bytes that are not UTF-8; nothing else was checked.
  public static let notUTF8 = Self(name: "encoding", sentence: "enter the password as UTF-8 text")
}
