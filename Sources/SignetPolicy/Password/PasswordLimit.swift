/// A number that a rule of a policy sets for a measure of a password.
///
/// A plain value, because each new password is compared with all limits of a policy.
struct PasswordLimit: Hashable, Sendable {
  /// The index of the rule in ``PasswordRules/rows``.
  let row: Int
  let bound: Bound
  let number: Int

  /// A measure with the direction in which the number limits it.
  enum Bound: Hashable, Sendable {
    case atLeast(Measure)
    case atMost(Measure)
  }

  enum Measure: Hashable, Sendable {
    case length
    case count(of: CharacterClass)
    case longestRepeat
    /// 1 if there is a sequence, otherwise 0.
    case sequence
  }

  func isBroken(by tally: PasswordTally) -> Bool {
    switch bound {
    case .atLeast(let measure): tally[measure] < number
    case .atMost(let measure): tally[measure] > number
    }
  }
}

extension PasswordTally {
  fileprivate subscript(measure: PasswordLimit.Measure) -> Int {
    switch measure {
    case .length: length
    case .count(let kind): count(of: kind)
    case .longestRepeat: longestRepeat
    case .sequence: hasSequence ? 1 : 0
    }
  }
}
