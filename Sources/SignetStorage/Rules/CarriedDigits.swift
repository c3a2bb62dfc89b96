extension CredentialRecord {
  /// Whether digits of a user's container are taken, which it makes as it makes codes.
  package func takesDigits(of user: UserID, attempts: Int) -> Bool {
    self.user == user && state == .active && serial == nil && failures < attempts
  }
}

extension TransactionRecord {
  /// Its acceptance by digits of a container; while it waits, `judge` says why they are not enough for it.
  package func ending(
    by attempt: AnswerAttempt, of holder: ContainerRecord?, lastReport: Int64?,
    _ judge: (TransactionRecord, ContainerRecord, _ lastReport: Int64?) -> DecisionOutcome?
  ) -> TransactionEnding {
    guard let holder else { return TransactionEnding(.unknown) }
    // A transaction that has ended is answered by its end, not by `judge`.
    if state(at: attempt.time) == .pending, let refusal = judge(self, holder, lastReport) {
      return TransactionEnding(refusal)
    }
    guard holder.isInUse else { return TransactionEnding(.unknown) }
    let decision = DecisionRecord(
      state: .accepted, jws: nil, container: holder.id, time: attempt.time, isTyped: attempt.isTyped,
      lastReport: lastReport)
    return ending(by: decision, of: holder.user, .endsRow)
  }
}
