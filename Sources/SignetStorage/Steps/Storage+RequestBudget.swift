import SignetSQL

extension SQLConnection {
  /// Counts a request to a user, of whatever kind, unless there are too many.
  ///
  /// - Parameters:
  ///   - user: Who is asked.
  ///   - requester: Who asks; `nil` is a requester too.
  ///   - now: When.
  ///   - limits: How often a user may be asked.
  /// - Returns: Whether it is counted; that it is where there is no such user, which the insertion says.
  /// - Throws: ``SQLFailure``.
  func admitRequest(
    to user: UserID, by requester: String?, at now: Int64, _ limits: TransactionLimits
  ) throws -> AdmissionOutcome {
    guard let budget = try budget(of: user, by: requester) else { return .added }
    if let wait = budget.wait(at: now, limits) { return wait }
    let (outcome, counted) = budget.admit(
      by: requester ?? "", at: now, beside: try pendingRequests(to: user, at: now), limits)
    if let counted { try set(counted, of: user, by: requester) }
    return outcome
  }

  /// An acceptance of whatever kind ends a user's row of requests that were not accepted.
  func endRow(of user: UserID) throws {
    let changed = try execute(
      """
      UPDATE users SET challenges = 0, challenge_after = 0
      WHERE id = $1 AND (challenges > 0 OR challenge_after > 0)
      """, [.of(user)])
    guard changed > 0 else { return }
    _ = try execute("DELETE FROM request_shares WHERE user_id = $1", [.of(user)])
  }

  /// Counts how a user has ended a request of a requester.
  func note(
    _ effect: RequestBudget.Effect, of user: UserID, by requester: String?, at time: Int64
  ) throws {
    switch effect {
    case .nothing: break
    case .endsRow: try endRow(of: user)
    case .beginsWait(let limits):
      guard let budget = try budget(of: user, by: requester) else { return }
      try set(budget.reported(at: time, limits), of: user, by: requester)
    }
  }

  // MARK: Rows

  /// What is counted of a user and a requester, which nobody else changes until the step has ended; `nil` where there is no such user.
  private func budget(of user: UserID, by requester: String?) throws -> RequestBudget? {
    let read: (SQLRow) throws -> RequestBudget.Row = {
      RequestBudget.Row(count: try $0.int(0), after: try $0.integer(1))
    }
    let all = try lockedRow(
      "SELECT challenges, challenge_after FROM users WHERE id = $1", [.of(user)], read)
    guard let all else { return nil }
    let own = try row(
      "SELECT challenges, challenge_after FROM request_shares WHERE user_id = $1 AND requester = $2",
      [.of(user), .text(requester ?? "")], read)
    return RequestBudget(all: all, own: own ?? RequestBudget.Row())
  }

  private func set(_ budget: RequestBudget, of user: UserID, by requester: String?) throws {
    try execute(
      "UPDATE users SET challenges = $1, challenge_after = $2 WHERE id = $3",
      [.int(budget.all.count), .integer(budget.all.after), .of(user)], changing: 1)
    try execute(
      """
      INSERT INTO request_shares (user_id, requester, challenges, challenge_after) VALUES ($1, $2, $3, $4)
      ON CONFLICT (user_id, requester) DO UPDATE SET challenges = excluded.challenges,
        challenge_after = excluded.challenge_after
      """,
      [.of(user), .text(requester ?? ""), .int(budget.own.count), .integer(budget.own.after)], changing: 1)
  }

  /// The requests that wait for a user's answer, each once.
  private func pendingRequests(
    to user: UserID, at now: Int64
  ) throws -> [(requester: String, expires: Int64)] {
    // The sums keep PostgreSQL from looking by time, among the requests of all users: each step would be in the way of every other.
    try rows(
      """
      SELECT coalesce(requester, ''), expires FROM transactions
        WHERE user_id = $1 AND state = 'pending' AND expires + 0 > $2
      UNION ALL
      SELECT requester, expires FROM uaf_sessions
        WHERE user_id = $1 AND requester IS NOT NULL AND \(UAFOperationRecord.isOpenCondition) AND expires + 0 > $2
      """, [.of(user), .integer(now)]
    ) { (requester: try $0.text(0), expires: try $0.integer(1)) }
  }
}
