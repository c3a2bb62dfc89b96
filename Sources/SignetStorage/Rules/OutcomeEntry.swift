/// The rule for the audit entry of an outcome; an outcome without news has none.
package enum OutcomeEntry: Hashable, Sendable {
  /// An entry each time.
  case always
  /// A limited number of entries per hour, because the requester could cause them without limit.
  case limited(Storage.Requester)
}

extension DecisionOutcome {
  /// Returns the rule; `nil` for no entry.
  ///
  /// Without a requester each rejection is written, because it cannot be repeated without limit. `tooMany` has no entry,
  /// because a device could fill the audit log with initiated transactions.
  package func entry(of requester: Storage.Requester?) -> OutcomeEntry? {
    switch self {
    case .repeated, .tooMany: nil
    case .decided: .always
    default: requester.map { .limited($0) } ?? .always
    }
  }

  /// Returns the rule for digits that a user carried: each wrong answer is written, until the limit of wrong answers.
  package func entry(ofDigitsBy requester: Storage.Requester) -> OutcomeEntry? {
    self == .notSigned ? .always : entry(of: requester)
  }

  /// The outcome as a one-time password's; `nil` if it does not count as one.
  package var asCode: CodeOutcome? {
    switch self {
    case .decided: .accepted
    case .notSigned: .refused
    default: nil
    }
  }
}

extension AdmissionOutcome {
  /// Returns the rule: a request that was not admitted can be repeated without limit.
  package func entry(to user: UserID?) -> OutcomeEntry {
    guard self != .added, let user else { return .always }
    return .limited(.claimant(user: user))
  }
}
