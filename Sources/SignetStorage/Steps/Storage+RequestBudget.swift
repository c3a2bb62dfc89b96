import SignetSQL

extension SQLConnection {
  /// Counts a request to a user, of whatever kind, unless there are too many: one budget against fatigue, of which each requester has a
  /// share.
  ///
  /// A transaction is one request, by however many messages and operations the user is asked it.
  ///
  /// - Parameters:
  ///   - user: Who is asked.
  ///   - requester: Who asks; `nil` is a requester too.
  ///   - now: When.
  ///   - limits: How often a user may be asked.
  /// - Returns: Whether it is counted; that it is where there is no such user, which the insertion says.
  /// - Throws: ``SQLFailure``.
  func admitRequest(
    to user: String, by requester: String?, at now: Int64, _ limits: TransactionLimits
  ) throws -> AdmissionOutcome {
    guard var all = try requestRow(of: user) else { return .added }
    let share = limits.share
    var own = try requestRow(of: user, by: requester)
    let after = max(all.after, own.after)
    guard after <= now else { return .coolingDown(retryAfter: min(after - now, limits.longestWait)) }
    let pending = try pendingRequests(to: user, at: now)
    // What waits longer first: it is what the requester has to wait for.
    for (ends, limit) in [
      (pending.filter { $0.requester == requester ?? "" }.map(\.expires), share.pending),
      (pending.map(\.expires), limits.pending),
    ] where ends.count >= limit {
      return .tooManyPending(retryAfter: (ends.min() ?? now + 1) - now)
    }
    own.count(at: now, share)
    // Beyond its share a requester waits alone, and uses up nothing of others'. Where several have used up all together, each further
    // request is everybody's again: more requesters are no more requests to the user.
    if own.count <= share.challenges || all.count >= limits.challenges {
      all.count(at: now, limits)
    }
    try set(all, of: user)
    try set(own, of: user, by: requester)
    return .added
  }

  /// An acceptance of whatever kind ends a user's row of requests that were not accepted.
  func endRow(of user: String) throws {
    let changed = try execute(
      """
      UPDATE users SET challenges = 0, challenge_after = 0
      WHERE id = $1 AND (challenges > 0 OR challenge_after > 0)
      """, [.text(user)])
    guard changed > 0 else { return }
    _ = try execute("DELETE FROM request_shares WHERE user_id = $1", [.text(user)])
  }

  /// An acceptance ends a user's row of transactions that were not accepted; a report begins a wait.
  func noteAnswer(
    of user: String, to transaction: TransactionRecord, _ state: TransactionRecord.State, at time: Int64,
    _ limits: TransactionLimits
  ) throws {
    guard state == .accepted || state == .reported else { return }
    guard state == .reported else { return try endRow(of: user) }
    guard var all = try requestRow(of: user) else { return }
    var own = try requestRow(of: user, by: transaction.requester)
    let share = limits.share
    // Nobody asks for a while, and who asked this begins the waits that grow.
    own.count = max(own.count, share.challenges - 1) + 1
    own.after = time + share.wait(after: own.count)
    all.after = max(all.after, time + limits.wait(after: limits.challenges))
    try set(all, of: user)
    try set(own, of: user, by: transaction.requester)
  }

  // MARK: Rows

  /// Requests in a row of which none was accepted.
  private struct RequestRow {
    /// How many there are.
    var count = 0
    /// When the next one may be made, in seconds since 1970; 0 for at any time.
    var after: Int64 = 0

    /// Counts one more, after which the next may have to wait.
    mutating func count(at now: Int64, _ limits: TransactionLimits) {
      count += 1
      let wait = limits.wait(after: count)
      // Nobody waits for a clock that was set back where there is nothing to wait for.
      after = wait > 0 ? now + wait : 0
    }
  }

  /// The row of all requests to a user, which nobody else changes until the step has ended; `nil` where there is no such user.
  private func requestRow(of user: String) throws -> RequestRow? {
    try lockedRow("SELECT challenges, challenge_after FROM users WHERE id = $1", [.text(user)]) {
      RequestRow(count: try $0.int(0), after: try $0.integer(1))
    }
  }

  private func requestRow(of user: String, by requester: String?) throws -> RequestRow {
    try row(
      "SELECT challenges, challenge_after FROM request_shares WHERE user_id = $1 AND requester = $2",
      [.text(user), .text(requester ?? "")]
    ) { RequestRow(count: try $0.int(0), after: try $0.integer(1)) } ?? RequestRow()
  }

  private func set(_ row: RequestRow, of user: String) throws {
    try execute(
      "UPDATE users SET challenges = $1, challenge_after = $2 WHERE id = $3",
      [.int(row.count), .integer(row.after), .text(user)], changing: 1)
  }

  private func set(_ row: RequestRow, of user: String, by requester: String?) throws {
    try execute(
      """
      INSERT INTO request_shares (user_id, requester, challenges, challenge_after) VALUES ($1, $2, $3, $4)
      ON CONFLICT (user_id, requester) DO UPDATE SET challenges = excluded.challenges,
        challenge_after = excluded.challenge_after
      """, [.text(user), .text(requester ?? ""), .int(row.count), .integer(row.after)], changing: 1)
  }

  /// The requests that wait for a user's answer, each once.
  private func pendingRequests(
    to user: String, at now: Int64
  ) throws -> [(requester: String, expires: Int64)] {
    try rows(
      """
      SELECT coalesce(requester, ''), expires FROM transactions
        WHERE user_id = $1 AND state = 'pending' AND expires > $2
      UNION ALL
      SELECT requester, expires FROM uaf_sessions
        WHERE user_id = $1 AND requester IS NOT NULL AND state IN ('requested', 'tokenCreated') AND expires > $2
      """, [.text(user), .integer(now)]
    ) { (requester: try $0.text(0), expires: try $0.integer(1)) }
  }
}
