/// The answer of an authenticator app to a message.
package enum PushAppDecision: Sendable {
  /// Approved, if an app's approval meets the requirements of the transaction.
  case approved(if: @Sendable (TransactionRecord) -> Bool)
  /// Denied; the reason if the user did not deny it: ``EndRecord/wrongNumber``.
  case denied(because: String? = nil)
}

/// The answer of an authenticator app to a message, with the transaction that the message asks about.
package struct PushAppAnswer {
  /// The result of an answer.
  package struct Ruling: Hashable {
    /// The outcome for the app.
    package var outcome: PushAuthAnswerOutcome
    /// The changed message; `nil` for no change.
    package var message: PushAuthMessageRecord?
    /// The change of the transaction; `nil` for none.
    package var change: TransactionEnding.Change?
  }

  let message: PushAuthMessageRecord
  let request: TransactionRecord
  /// The evidence that is stored with the transaction; `nil` for none.
  let evidence: EvidenceRecord?
  let time: Int64

  /// Makes an answer from a message, its transaction, the evidence, and the time of the answer.
  package init(
    to message: PushAuthMessageRecord, asking request: TransactionRecord, evidence: EvidenceRecord?,
    at time: Int64
  ) {
    self.message = message
    self.request = request
    self.evidence = evidence
    self.time = time
  }

  /// Returns the result of an approval or a denial.
  ///
  /// - Parameter decision: The answer.
  /// - Returns: The outcome and the changes.
  package func ruling(on decision: PushAppDecision) -> Ruling {
    guard isOpen else { return Ruling(outcome: .ended, change: lapse) }
    switch decision {
    case .approved(let mayApprove):
      guard mayApprove(request) else { return Ruling(outcome: .insufficient) }
      return Ruling(
        outcome: .accepted, message: message.answered(.approved, at: time),
        change: ended(.accepted, .endsRow, because: nil))
    case .denied(let reason):
      return Ruling(
        outcome: .accepted, message: message.answered(.denied, at: time),
        change: ended(.denied, .nothing, because: reason))
    }
  }

  /// Indicates whether an answer is still accepted.
  private var isOpen: Bool {
    request.isAsked(of: .pushApp) && request.state(at: time) == .pending && message.state == .pending
      && message.expires > time
  }

  /// The change for a transaction that has just expired; `nil` for none.
  private var lapse: TransactionEnding.Change? {
    request.isAsked(of: .pushApp) ? request.lapse(at: time) : nil
  }

  private func ended(
    _ state: TransactionRecord.State, _ effect: RequestBudget.Effect, because reason: String?
  ) -> TransactionEnding.Change {
    var ended = request
    let answer = AppAnswer(mechanism: message.mechanism, message: message.id, time: time)
    (ended.state, ended.app, ended.evidence) = (state, answer, evidence)
    ended.end = reason.map { EndRecord(state: state, reason: $0, container: nil, time: time) }
    return .ends(ended, effect)
  }
}

extension PushAuthMessageRecord {
  fileprivate func answered(_ state: State, at time: Int64) -> PushAuthMessageRecord {
    var answered = self
    answered.state = state
    answered.answered = time
    answered.sealedToken = nil
    return answered
  }
}
