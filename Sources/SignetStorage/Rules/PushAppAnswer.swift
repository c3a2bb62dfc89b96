/// A message to an authenticator app that is answered, beside the transaction that it asks.
package struct PushAppAnswer {
  /// What an answer comes to.
  package struct Ruling: Hashable {
    /// What the app is told.
    package var outcome: PushAuthAnswerOutcome
    /// The message as it is from now on; `nil` where it stays as it is.
    package var message: PushAuthMessageRecord?
    /// What is written of the transaction; `nil` for nothing.
    package var change: TransactionEnding.Change?
  }

  let message: PushAuthMessageRecord
  let request: TransactionRecord
  /// What is kept of the answer with the transaction; `nil` where nothing can be.
  let evidence: EvidenceRecord?
  let time: Int64

  /// Puts together a message, the transaction that it asks, what is kept of the answer, and when that comes.
  package init(
    to message: PushAuthMessageRecord, asking request: TransactionRecord, evidence: EvidenceRecord?,
    at time: Int64
  ) {
    (self.message, self.request, self.evidence, self.time) = (message, request, evidence, time)
  }

  /// What a yes or a no comes to.
  ///
  /// - Parameter decision: The answer.
  /// - Returns: What the app is told, and what changes.
  package func ruling(on decision: PushAppDecision) -> Ruling {
    guard isOpen else { return Ruling(outcome: .over, change: lapse) }
    switch decision {
    case .approved(let mayApprove):
      guard mayApprove(request) else { return Ruling(outcome: .insufficient) }
      return Ruling(
        outcome: .taken, message: message.answered(.approved, at: time),
        change: ended(.accepted, .endsRow, because: nil))
    case .denied(let reason):
      return Ruling(
        outcome: .taken, message: message.answered(.denied, at: time),
        change: ended(.denied, .nothing, because: reason))
    }
  }

  /// Whether it may still be answered.
  private var isOpen: Bool {
    request.isAsked(of: .pushApp) && request.state(at: time) == .pending && message.state == .pending
      && message.expires > time
  }

  /// That the time of the transaction is found to be over.
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
    (answered.state, answered.answered, answered.sealedToken) = (state, time, nil)
    return answered
  }
}
