extension BackchannelRecord {
  /// A change that a poll causes.
  package enum PollChange: Hashable {
    /// The time of the poll is stored, and the interval until the next one in seconds.
    case counts(interval: Int64)
    /// The transaction has expired, which is stored so that a clock that is set back does not reopen it.
    case expires
    /// The request has expired, which is stored for the same reason.
    case closes
  }

  /// Returns the outcome of a client's poll; after a poll that comes too soon the interval grows by a step, up to a limit.
  ///
  /// - Returns: The outcome, and the change; `nil` for none.
  package func poll(
    of transaction: TransactionRecord, at time: Int64, step: Int64, limit: Int64
  ) -> (outcome: PollOutcome, change: PollChange?) {
    guard issued == nil else { return (.used, nil) }
    switch transaction.state(at: time) {
    case .pending:
      // The MAC does not cover these columns, so the interval is clamped.
      let interval = min(max(interval, 1), 3600)
      // The clock has whole seconds, so one second of tolerance is allowed. A clock that was set back does not make a poll too soon.
      let isTooSoon = lastPoll.map { $0 <= time && $0 > time + 1 - interval } ?? false
      let next = isTooSoon ? min(interval + step, limit) : interval
      return (isTooSoon ? .tooSoon(interval: next) : .pending, .counts(interval: next))
    case .expired: return (.expired, .expires)
    default: return expires <= time ? (.expired, .closes) : (.ended(self, transaction), nil)
    }
  }

  /// Determines if its tokens are issued: once, in time, not to a revoked client, and only if the user and the authenticator
  /// are active.
  ///
  /// A client that polls has to come before the request expires. Tokens are pushed to a client only within the window after
  /// the decision.
  package func grantsTokens(
    for transaction: TransactionRecord, isProofInUse: Bool, user: UserRecord.State?, client: ClientRecord,
    at time: Int64, pushedWithin window: Int64
  ) -> Bool {
    guard issued == nil, isProofInUse, user == .active, client.revoked == nil else { return false }
    return delivery == .push ? transaction.decided.map { $0 >= time - window } ?? false : expires > time
  }
}
