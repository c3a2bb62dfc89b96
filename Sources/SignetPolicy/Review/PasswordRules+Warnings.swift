extension PasswordRules {
  /// Warnings about rules that are allowed but probably not intended.
  var warnings: [PolicyFinding] {
    strengthWarnings + alphabetWarnings + idleRules + historyWarnings + dictionaryWarnings
  }

  private var strengthWarnings: [PolicyFinding] {
    let length = shortestLength
    guard length < 4 else { return [] }
    return [
      PolicyFinding(
        .warning, [.minLength],
        "passwords of \(length) \(length == 1 ? "character" : "characters") are guessed in a few tries; ask for 4 or more"
      )
    ]
  }

  /// Warnings about an ASCII keyboard, where every letter has case: the characters that the rules leave.
  private var alphabetWarnings: [PolicyFinding] {
    let cased = maximum(of: .uppercase) + maximum(of: .lowercase)
    let letters = min(maximum(of: .letter), cased)
    if minimum(of: .letter) > cased {
      return [
        PolicyFinding(
          .warning, [.minimum(.letter), .maximum(.uppercase), .maximum(.lowercase)],
          "only letters without case can satisfy these together, and many keyboards have none; allow more letters with case"
        )
      ]
    }
    if letters + maximum(of: .digit) + maximum(of: .nonAlphanumeric) < minimumLength {
      return [
        PolicyFinding(
          .warning, [.minLength, .maximum(.uppercase), .maximum(.lowercase)],
          "only letters without case can fill the length, and many keyboards have none; allow more of the others"
        )
      ]
    }
    if cased == 0, maximum(of: .letter) > 0 {
      return [
        PolicyFinding(
          .warning, [.maximum(.letter), .maximum(.uppercase), .maximum(.lowercase)],
          "letters are allowed, but none with case; set maxLetters to 0 if none are meant")
      ]
    }
    return []
  }

  private var idleRules: [PolicyFinding] {
    Self.rows.compactMap { row in
      row.idle(self).map { PolicyFinding(.warning, [row.rule, $0.other], $0.message) }
    }
  }

  private var historyWarnings: [PolicyFinding] {
    guard maximumHistory > 0, age.minimumDays == 0 else { return [] }
    return [
      PolicyFinding(
        .warning, [.maxHistory, .minAge],
        "with no minimum age a user gets an old password back by changing it a few times in a row; set minAge"
      )
    ]
  }

  private var dictionaryWarnings: [PolicyFinding] {
    guard checksDictionary, shortestLength < PasswordPolicy.dictionaryLength else { return [] }
    return [
      PolicyFinding(
        .warning, [.dictionary, .minLength],
        "the dictionary check refuses all passwords below \(PasswordPolicy.dictionaryLength) characters; set minLength to that"
      )
    ]
  }
}

extension LockPolicy {
  /// Warnings about a lock that is allowed but probably not intended.
  func warnings(with password: PasswordRules?) -> [PolicyFinding] {
    switch self {
    case .none:
      return [
        PolicyFinding(
          .warning, [.lockType], "wrong passwords cost nothing; choose a lock, a delay or a cool-down")
      ]
    case .delay:
      return [
        PolicyFinding(
          .warning, [.lockType],
          "waits alone end no guessing: they go by the device's clock, which whoever runs programs as the user may bend; use a cool-down or a lock, which have a limit"
        )
      ]
    case .silent where (password?.age.maximumDays ?? 0) > 0:
      return [
        PolicyFinding(
          .warning, [.maxAge, .lockType],
          "under a silent lock passwords do not expire; leave the maximum age out")
      ]
    case .coolDown(let waits, _) where zip(waits, waits.dropFirst()).contains(where: { $0 > $1 }):
      return [
        PolicyFinding(
          .warning, [.waits], "a later failure costs less than an earlier one; put the waits in order")
      ]
    case .coolDown(let waits, _) where waits.allSatisfy({ $0 == 0 }):
      return [PolicyFinding(.warning, [.waits], "no failure costs a wait; use a lock of \(waits.count + 1)")]
    default: return []
    }
  }
}
