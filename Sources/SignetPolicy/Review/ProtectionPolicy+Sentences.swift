extension PasswordPolicy {
  /// The requirements for a new password, one phrase per rule, without those that only its store can check.
  public var requirements: [String] {
    let isNumeric = rules.isNumeric
    let most = isNumeric ? min(rules.maximumLength, maximum(of: .digit)) : rules.maximumLength
    let lengths = rules.shortestLength == most ? "\(most)" : "\(rules.shortestLength) to \(most)"
    var phrases = ["\(lengths) \(isNumeric ? "digit" : "character")\(most == 1 ? "" : "s")"]
    for kind in CharacterClass.allCases where !isStated(of: kind) {
      let bounds = count(of: kind)
      switch (bounds.minimum, bounds.maximum) {
      case (_, 0?): phrases.append("no \(kind.noun(0))")
      case (let least, let most?) where least == most: phrases.append("\(least) \(kind.noun(least))")
      case (1..., let most?):
        phrases.append("\(bounds.minimum) to \(most) \(kind.noun(most))")
      case (0, let most?): phrases.append("at most \(most) \(kind.noun(most))")
      case (1..., nil): phrases.append("at least \(bounds.minimum) \(kind.noun(bounds.minimum))")
      default: break
      }
    }
    phrases += PasswordRules.rows.compactMap { row -> String? in
      guard let phrase = row.details.phrase, let value = row.value(rules) else { return nil }
      return phrase(value.asNumber, rules)
    }
    return phrases
  }

  /// True if another phrase covers the class.
  ///
  /// Passwords of digits have no other class, and without letters there is neither case.
  private func isStated(of kind: CharacterClass) -> Bool {
    rules.isNumeric || (kind == .uppercase || kind == .lowercase) && count(of: .letter).maximum == 0
  }
}

extension ProtectionPolicy {
  /// Returns the policy's requirements as sentences for the user.
  ///
  /// - Parameter isBoundToDevice: True if hardware, such as a TPM, keeps the keys. Otherwise copied files contain usable
  ///   keys under any policy; the sentences say so and name the remedy.
  /// - Returns: The sentences, in reading order.
  public func sentences(isBoundToDevice: Bool) -> [String] {
    let scope = isBoundToDevice ? "on this device only" : "wherever the files of this device are copied to"
    var sentences = ["The keys work \(scope), \(type.opening)."]
    if !isBoundToDevice {
      sentences.append(
        "No hardware protects them: keep the files private and out of backups, or activate again on a device with a TPM."
      )
    }
    guard let password = passwordPolicy else { return sentences }
    sentences.append("A new password: \(password.requirements.joined(separator: ", ")).")
    sentences += PasswordRules.rows.compactMap { row -> String? in
      guard let sentence = row.details.sentence, let value = row.value(password.rules) else { return nil }
      return sentence(value.asNumber, password.rules, lockPolicy)
    }
    return sentences
      + lockPolicy.sentences(
        lockedOut: "the keys are locked; only a recovery code unlocks them",
        erased: "everything that they protect is erased")
  }
}

extension LockPolicy {
  /// Returns the consequences of wrong passwords as sentences.
  ///
  /// - Parameters:
  ///   - lockedOut: The consequence of the last attempt, such as `the keys are locked`.
  ///   - erased: The consequence if the policy erases the data.
  /// - Returns: The sentences, in reading order.
  public func sentences(lockedOut: String, erased: String) -> [String] {
    let end = consequence == .wipe ? erased : lockedOut
    switch self {
    case .none: return ["The number of wrong passwords is not limited."]
    case .lock(let limit, _):
      return ["After \(counted(limit, "wrong password", "wrong passwords")) in a row \(end)."]
    case .delay(let seconds, let counter):
      return [
        "After a wrong password the next try waits \(counted(seconds, "second", "seconds")), and twice as long after each "
          + "further one, up to \(counted(Int(wait(afterFailure: counter)), "second", "seconds"))."
      ]
    case .coolDown(let waits, _):
      let costs = waits.enumerated().filter { $0.element > 0 }.map { ($0.offset + 1, $0.element) }
      guard let (failure, wait) = costs.first else {
        return ["After \(counted(waits.count + 1, "wrong password", "wrong passwords")) in a row \(end)."]
      }
      let first =
        "After \(counted(failure, "wrong password", "wrong passwords")) in a row the next try waits "
        + counted(wait, "second", "seconds")
      let others = costs.dropFirst().map { "after \($0.0) \(counted($0.1, "second", "seconds"))" }
      return ["\(([first] + others).joined(separator: ", ")); after \(waits.count + 1) \(end)."]
    case .silent:
      return [
        "This device cannot detect a wrong password; the server counts wrong codes and signatures."
      ]
    }
  }
}
