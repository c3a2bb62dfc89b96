/// How an outcome goes into the audit log; one that says nothing new does not.
package enum OutcomeEntry: Hashable, Sendable {
  /// Each time.
  case always
  /// No more than so often in an hour: who causes it could do so without end.
  case limited(Storage.Requester)
}

extension DecisionOutcome {
  /// The entry; `nil` for none.
  ///
  /// Without a requester, who cannot repeat refusals without end, each is written.
  /// With what it signs unasked a device could fill the audit log as it could the table.
  package func entry(of requester: Storage.Requester?) -> OutcomeEntry? {
    switch self {
    case .repeated, .tooMany: nil
    case .decided: .always
    default: requester.map { .limited($0) } ?? .always
    }
  }

  /// How it goes into the audit log where digits were carried: each wrong answer is counted until nothing is taken any more.
  package func entry(ofDigitsBy requester: Storage.Requester) -> OutcomeEntry? {
    self == .notSigned ? .always : entry(of: requester)
  }

  /// How digits that were carried count as a code; `nil` where they do not.
  package var asCode: CodeOutcome? {
    switch self {
    case .decided: .accepted
    case .notSigned: .refused
    default: nil
    }
  }
}

extension AdmissionOutcome {
  /// How it goes into the audit log: a request that was not admitted can be repeated without end.
  package func entry(to user: UserID?) -> OutcomeEntry {
    guard self != .added, let user else { return .always }
    return .limited(.claimant(user: user))
  }
}
