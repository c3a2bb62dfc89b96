extension BackchannelRecord {
  /// What is written after a look at how a request stands.
  package enum PollChange: Hashable {
    /// It was asked for now, and so many seconds have to pass before it is again.
    case counts(interval: Int64)
    /// The time of its transaction is over, which stays so where the clock is set back.
    case expires
    /// Its own time is over, which stays so too.
    case closes
  }

  /// What its client finds that asks for it; after a poll that comes too soon the interval grows by a step, up to a limit.
  ///
  /// - Returns: What the client finds, and what is written; `nil` for nothing.
  package func poll(
    of transaction: TransactionRecord, at time: Int64, step: Int64, limit: Int64
  ) -> (outcome: PollOutcome, change: PollChange?) {
    guard issued == nil else { return (.used, nil) }
    switch transaction.state(at: time) {
    case .pending:
      // No MAC covers these columns.
      let interval = min(max(interval, 1), 3600)
      // The clock has whole seconds, so one of them is not counted; one that was put back makes nobody wait.
      let isTooSoon = lastPoll.map { $0 <= time && $0 > time + 1 - interval } ?? false
      let next = isTooSoon ? min(interval + step, limit) : interval
      return (isTooSoon ? .tooSoon(interval: next) : .pending, .counts(interval: next))
    case .expired: return (.expired, .expires)
    default: return expires <= time ? (.expired, .closes) : (.ended(self, transaction), nil)
    }
  }

  /// Whether its tokens are given out: once, in time, to no revoked client, and while the user, and what was accepted with, is in use.
  ///
  /// A client that asks has to be there before the request expires, one that is told hears it within the window after the decision.
  package func grantsTokens(
    for transaction: TransactionRecord, isProofInUse: Bool, user: UserRecord.State?, client: ClientRecord,
    at time: Int64, pushedWithin window: Int64
  ) -> Bool {
    guard issued == nil, isProofInUse, user == .active, client.revoked == nil else { return false }
    return delivery == .push ? transaction.decided.map { $0 >= time - window } ?? false : expires > time
  }
}
