extension CredentialRecord {
  /// Returns `true` if digits of a user's container are accepted; they share the credential and the limit of wrong codes.
  package func acceptsDigits(of user: UserID, attempts: Int) -> Bool {
    self.user == user && state == .active && serial == nil && failures < attempts
  }
}

extension TransactionRecord {
  /// Returns the acceptance by a container's digits; while it is pending, `check` returns the reason why they do not suffice.
  package func ending(
    by attempt: AnswerAttempt, of holder: ContainerRecord?, lastReport: Int64?,
    _ check: (TransactionRecord, ContainerRecord, _ lastReport: Int64?) -> DecisionOutcome?
  ) -> TransactionEnding {
    guard let holder else { return TransactionEnding(.unknown) }
    // If the transaction has ended, its end is the outcome, and `check` is not called.
    if state(at: attempt.time) == .pending, let refusal = check(self, holder, lastReport) {
      return TransactionEnding(refusal)
    }
    guard holder.isInUse else { return TransactionEnding(.unknown) }
    let decision = DecisionRecord(
      state: .accepted, jws: nil, container: holder.id, time: attempt.time, isTyped: attempt.isTyped,
      lastReport: lastReport)
    return ending(by: decision, of: holder.user, .endsRow)
  }
}
