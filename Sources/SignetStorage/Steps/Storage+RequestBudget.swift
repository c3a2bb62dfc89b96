import SignetSQL

extension SQLConnection {
  /// Counts a request to a user, of whatever kind, unless there are too many: one budget against fatigue.
  ///
  /// A transaction is one request, by however many messages and operations the user is asked it.
  func admitRequest(
    to user: String, at now: Int64, _ limits: TransactionLimits
  ) throws -> AdmissionOutcome {
    let found = try lockedRow(
      "SELECT challenges, challenge_after FROM users WHERE id = $1", [.text(user)]
    ) { (challenges: try $0.int(0), after: try $0.integer(1)) }
    guard let found else { return .added }  // the insertion says that there is no such user
    guard found.after <= now else {
      return .coolingDown(retryAfter: min(found.after - now, limits.longestWait))
    }
    let pending = try rows(
      """
      SELECT count(*), min(expires) FROM transactions WHERE user_id = $1 AND state = 'pending' AND expires > $2
      UNION ALL
      SELECT count(*), min(pushauth_messages.expires) FROM pushauth_messages
        JOIN pushauth_mechanisms ON pushauth_mechanisms.id = pushauth_messages.mechanism
        WHERE pushauth_mechanisms.user_id = $1 AND pushauth_messages.state = 'pending'
          AND pushauth_messages.expires > $2 AND pushauth_messages.txn IS NULL
      """, [.text(user), .integer(now)]
    ) { (count: try $0.int(0), first: try $0.optional(1, $0.integer)) }
    if pending.reduce(0, { $0 + $1.count }) >= limits.pending {
      return .tooManyPending(retryAfter: (pending.compactMap(\.first).min() ?? now + 1) - now)
    }
    let count = found.challenges + 1
    let wait = limits.wait(after: count)
    try execute(
      "UPDATE users SET challenges = $1, challenge_after = $2 WHERE id = $3",
      [.int(count), .integer(wait > 0 ? now + wait : 0), .text(user)], changing: 1)
    return .added
  }

  /// An acceptance of whatever kind ends a user's row of requests that were not accepted.
  func endRow(of user: String) throws {
    _ = try execute(
      """
      UPDATE users SET challenges = 0, challenge_after = 0
      WHERE id = $1 AND (challenges > 0 OR challenge_after > 0)
      """, [.text(user)])
  }

  /// An acceptance ends a row of transactions that were not accepted; a report begins a wait.
  func noteAnswer(
    to id: String, _ state: TransactionRecord.State, at time: Int64, _ limits: TransactionLimits
  ) throws {
    switch state {
    case .accepted:
      let user = try row("SELECT user_id FROM transactions WHERE id = $1", [.text(id)]) {
        try $0.optional(0, $0.text)
      }
      if let user = user ?? nil { try endRow(of: user) }
    case .reported:
      let found = try row(
        """
        SELECT users.id, challenges FROM users JOIN transactions ON users.id = transactions.user_id
        WHERE transactions.id = $1
        """, [.text(id)]
      ) { (user: try $0.text(0), challenges: try $0.int(1)) }
      guard let found else { return }
      let count = max(found.challenges, limits.challenges - 1) + 1
      _ = try execute(
        "UPDATE users SET challenges = $1, challenge_after = $2 WHERE id = $3",
        [.int(count), .integer(time + limits.wait(after: count)), .text(found.user)])
    default: return
    }
  }
}
