/// The rules of policies, by their names in the JSON form.
///
/// This is the only list of names and codes: readers, printers, findings and sentences use it.
enum PolicyRule: String, CaseIterable, Sendable {
  case type
  case minLength
  case maxLength
  case minUppercase
  case minLowercase
  case minLetters
  case minDigits
  case minNonAlphanumeric
  case maxUppercase
  case maxLowercase
  case maxLetters
  case maxDigits
  case maxNonAlphanumeric
  case allowSequences
  case maxRepeats
  case maxHistory
  case minAge
  case maxAge
  case cacheEnabled
  case cacheTimeout
  case dictionary
  /// The `type` of a lock policy.
  case lockType
  case limit
  case atLimit
  case delay
  case counter
  case waits

  /// The code in a policy string.
  ///
  /// The limit of a lock and the counter of a delay share a code, because each lock type has only one of them.
  var code: String {
    switch self {
    case .type: "TYPE"
    case .minLength: "MINLEN"
    case .maxLength: "MAXLEN"
    case .minUppercase: "UP"
    case .minLowercase: "LOW"
    case .minLetters: "ALPHA"
    case .minDigits: "NUM"
    case .minNonAlphanumeric: "NALPHA"
    case .maxUppercase: "MUP"
    case .maxLowercase: "MLOW"
    case .maxLetters: "MALPHA"
    case .maxDigits: "MNUM"
    case .maxNonAlphanumeric: "MNALPHA"
    case .allowSequences: "SEQ"
    case .maxRepeats: "REPEAT"
    case .maxHistory: "HISTNUM"
    case .minAge: "HISTMINAGE"
    case .maxAge: "HISTMAXAGE"
    case .cacheEnabled: "CACHE"
    case .cacheTimeout: "CACHETIMEOUT"
    case .dictionary: "DICT"
    case .lockType: "LOCKTYPE"
    case .limit, .counter: "LOCKCOUNTER"
    case .atLimit: "LOCKWIPE"
    case .delay: "LOCKDELAY"
    case .waits: "LOCKWAITS"
    }
  }

  /// The rules of a password policy, in the order of the JSON form.
  static let ofPasswords: [PolicyRule] =
    [.minLength, .maxLength] + CharacterClass.allCases.flatMap { [$0.minimum, $0.maximum] }
    + [
      .allowSequences, .maxRepeats, .maxHistory, .minAge, .maxAge, .cacheEnabled, .cacheTimeout, .dictionary,
    ]

  static let ofLocks: [PolicyRule] = [.lockType, .limit, .atLimit, .delay, .counter, .waits]
}

extension CharacterClass {
  var minimum: PolicyRule {
    switch self {
    case .uppercase: .minUppercase
    case .lowercase: .minLowercase
    case .letter: .minLetters
    case .digit: .minDigits
    case .nonAlphanumeric: .minNonAlphanumeric
    }
  }

  var maximum: PolicyRule {
    switch self {
    case .uppercase: .maxUppercase
    case .lowercase: .maxLowercase
    case .letter: .maxLetters
    case .digit: .maxDigits
    case .nonAlphanumeric: .maxNonAlphanumeric
    }
  }
}
