/// A rule that a password breaks.
///
/// It names the rule and never contains the password.
@nonexhaustive public enum PasswordViolation: Error, Sendable, Hashable, CustomStringConvertible {
  /// Shorter than the minimum length, in code points.
  case tooShort(minimum: Int)
  /// Longer than the maximum length, in code points.
  case tooLong(maximum: Int)
  /// Fewer characters of a class than required.
  case tooFew(CharacterClass, minimum: Int)
  /// More characters of a class than allowed.
  case tooMany(CharacterClass, maximum: Int)
  /// Three or more letters or digits in sequence, such as `abc` or `321`.
  case sequence
  /// A run of one character that is longer than allowed.
  case repetition(maximum: Int)
  /// One of the latest passwords, which must not be used again.
  case reused(history: Int)
  /// A dictionary word or a simple variant of one.
  case inDictionary
  /// A rule of the app; the name and the sentence are the app's.
  case custom(rule: String, message: String)
  /// A control character, or another that RFC 8264 does not allow in free text, such as U+0640.
  case disallowedCharacter
  /// Bytes that are not UTF-8; nothing else was checked.
  case notUTF8

  /// The name of the broken rule, for programs.
  ///
  /// It is the rule's name in the JSON form of the policy, or `disallowedCharacter` or `encoding`, which every policy has.
  public var rule: String {
    switch self {
    case .tooShort: PolicyRule.minLength.rawValue
    case .tooLong: PolicyRule.maxLength.rawValue
    case .tooFew(let kind, _): kind.minimumRule
    case .tooMany(let kind, _): kind.maximumRule
    case .sequence: PolicyRule.allowSequences.rawValue
    case .repetition: PolicyRule.maxRepeats.rawValue
    case .reused: PolicyRule.maxHistory.rawValue
    case .inDictionary: PolicyRule.dictionary.rawValue
    case .custom(let rule, _): rule
    case .disallowedCharacter: "disallowedCharacter"
    case .notUTF8: "encoding"
    }
  }

  /// The remedy, with the number needed.
  public var description: String {
    switch self {
    case .tooShort(let minimum): "use at least \(minimum) \(minimum == 1 ? "character" : "characters")"
    case .tooLong(let maximum): "use at most \(maximum) \(maximum == 1 ? "character" : "characters")"
    case .tooFew(let kind, let minimum): "use at least \(minimum) \(kind.noun(minimum))"
    case .tooMany(let kind, 0): "use no \(kind.noun(0))"
    case .tooMany(let kind, let maximum): "use at most \(maximum) \(kind.noun(maximum))"
    case .sequence:
      "avoid \(PasswordPolicy.sequenceLength) or more letters or digits in order, such as abc or 321"
    case .repetition(1): "do not use the same character twice in a row"
    case .repetition(let maximum): "use the same character at most \(maximum) times in a row"
    case .reused(1): "choose another password than the present one"
    case .reused(let history): "choose a password that is not among your last \(history)"
    case .inDictionary: "choose a password that is not made from a word or an obvious series"
    case .custom(_, let message): message
    case .disallowedCharacter:
      "leave out control, invisible, private-use and unassigned characters, and others that RFC 8264 disallows"
    case .notUTF8: "enter the password as UTF-8 text"
    }
  }
}
