extension PasswordRules {
  /// Warnings about rules that are allowed but probably not intended.
  var warnings: [PolicyFinding] {
    let length = shortestLength
    return [
      PolicyFinding.warning(
        length < 4, [.minLength],
        "passwords of \(counted(length, "character", "characters")) are guessed in a few tries; ask for 4 or more"
      ),
      alphabetWarning,
    ].compactMap(\.self) + idleRules
      + [
        .warning(
          maximumHistory > 0 && age.minimumDays == 0, [.maxHistory, .minAge],
          "without a minimum age a user can return to an old password by a few changes in a row; set minAge"
        ),
        .warning(
          checksDictionary && length < PasswordPolicy.dictionaryLength, [.dictionary, .minLength],
          "the dictionary check refuses all passwords below \(PasswordPolicy.dictionaryLength) characters; set minLength to that"
        ),
      ].compactMap(\.self)
  }

  /// The characters of an ASCII keyboard that the rules allow; every letter has case.
  private var alphabetWarning: PolicyFinding? {
    let cased = maximum(of: .uppercase) + maximum(of: .lowercase)
    let letters = min(maximum(of: .letter), cased)
    let maxima: [PolicyRule] = [.maximum(.uppercase), .maximum(.lowercase)]
    return .warning(
      minimum(of: .letter) > cased, [.minimum(.letter)] + maxima,
      "only letters without case can satisfy these together, and many keyboards have none; allow more letters with case"
    )
      ?? .warning(
        letters + maximum(of: .digit) + maximum(of: .nonAlphanumeric) < minimumLength, [.minLength] + maxima,
        "only letters without case can fill the length, and many keyboards have none; allow more of the others"
      )
      ?? .warning(
        cased == 0 && maximum(of: .letter) > 0, [.maximum(.letter)] + maxima,
        "letters are allowed, but no upper-case or lower-case ones; set maxLetters to 0 if no letters are intended"
      )
  }

  private var idleRules: [PolicyFinding] {
    Self.rows.compactMap { row in
      row.details.idle?(self).map { PolicyFinding(.warning, [row.rule, $0.other], $0.message) }
    }
  }
}

extension LockPolicy {
  /// Warnings about a lock that is allowed but probably not intended.
  func warnings(with password: PasswordRules?) -> [PolicyFinding] {
    switch self {
    case .none:
      return [
        PolicyFinding(
          .warning, [.lockType],
          "the number of wrong passwords is not limited; choose a lock, a delay or a cool-down")
      ]
    case .delay:
      return [
        PolicyFinding(
          .warning, [.lockType],
          "delays alone do not stop guessing: they depend on the clock of the device, which a program of the user may change; use a cool-down or a lock, which have a limit"
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
          .warning, [.waits],
          "the wait after a later failure is shorter than after an earlier one; put the waits in ascending order"
        )
      ]
    case .coolDown(let waits, _) where waits.allSatisfy({ $0 == 0 }):
      return [
        PolicyFinding(
          .warning, [.waits], "no failure leads to a wait; use a lock with the limit \(waits.count + 1)")
      ]
    default: return []
    }
  }
}

extension PolicyFinding {
  fileprivate static func warning(
    _ isDoubtful: Bool, _ rules: [PolicyRule], _ message: String
  ) -> PolicyFinding? {
    isDoubtful ? PolicyFinding(.warning, rules, message) : nil
  }
}
