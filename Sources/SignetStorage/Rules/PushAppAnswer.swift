/// A message to an authenticator app that is answered, beside the transaction that it asks.
package struct PushAppAnswer {
  /// What an answer comes to.
  package struct Ruling<Outcome: Hashable>: Hashable {
    /// What the app is told.
    package var outcome: Outcome
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

  /// What a yes or a no comes to; `mayApprove` says whether the yes of an app does for what the transaction requires.
  package func ruling(
    on state: PushAuthMessageRecord.State, mayApprove: (TransactionRecord) -> Bool
  ) -> Ruling<PushAuthAnswerOutcome> {
    guard isOpen else { return Ruling(outcome: .over, change: lapse) }
    let isYes = state == .approved
    guard !isYes || mayApprove(request) else { return Ruling(outcome: .insufficient) }
    return Ruling(
      outcome: .taken, message: message.answered(state, at: time),
      change: ended(isYes ? .accepted : .denied, isYes ? .endsRow : .nothing))
  }

  /// What a wrong number comes to, and how many more are allowed, `nil` where the message does not wait: the last one denies.
  package func rulingOnWrongNumber(limit: Int) -> Ruling<Int?> {
    guard isOpen else { return Ruling(outcome: nil, change: lapse) }
    var counted = message
    counted.wrongNumbers += 1
    let remaining = max(limit - counted.wrongNumbers, 0)
    guard remaining == 0 else { return Ruling(outcome: remaining, message: counted) }
    let end = EndRecord(state: .denied, reason: EndRecord.wrongNumber, container: nil, time: time)
    return Ruling(
      outcome: 0, message: counted.answered(.denied, at: time), change: ended(.denied, .nothing, because: end)
    )
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
    _ state: TransactionRecord.State, _ effect: RequestBudget.Effect, because end: EndRecord? = nil
  ) -> TransactionEnding.Change {
    var ended = request
    let answer = AppAnswer(mechanism: message.mechanism, message: message.id, time: time)
    (ended.state, ended.app, ended.evidence, ended.end) = (state, answer, evidence, end)
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
