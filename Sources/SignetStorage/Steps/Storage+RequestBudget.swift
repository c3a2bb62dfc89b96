import SignetSQL

extension SQLConnection {
  /// Counts a request to a user, of any kind, unless there are too many.
  ///
  /// - Parameters:
  ///   - user: The user who is asked.
  ///   - requester: The requester; `nil` counts as one requester.
  ///   - now: The current time, in seconds since 1970.
  ///   - limits: The rate limits for requests to one user.
  /// - Returns: The outcome; ``AdmissionOutcome/added`` for an unknown user, which the insertion of the request reports.
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

  /// Resets a user's count of consecutive unaccepted requests, after an acceptance of any kind.
  func endRow(of user: UserID) throws {
    let changed = try execute(
      """
      UPDATE users SET challenges = 0, challenge_after = 0
      WHERE id = $1 AND (challenges > 0 OR challenge_after > 0)
      """, [.of(user)])
    guard changed > 0 else { return }
    _ = try execute("DELETE FROM request_shares WHERE user_id = $1", [.of(user)])
  }

  /// Applies the effect of a request's end to the user's budget.
  func apply(
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

  /// Returns the counts of a user and a requester; `nil` for an unknown user.
  ///
  /// The user's row is locked against other steps until this step has ended.
  private func budget(of user: UserID, by requester: String?) throws -> RequestBudget? {
    let read: (SQLRow) throws -> RequestBudget.Row = {
      RequestBudget.Row(count: try $0.int(0), after: try $0.integer(1))
    }
    let all = try lockedRow(
      "SELECT challenges, challenge_after FROM users WHERE id = $1", [.of(user)], read)
    guard let all else { return nil }
    let share = try row(
      "SELECT challenges, challenge_after FROM request_shares WHERE user_id = $1 AND requester = $2",
      [.of(user), .text(requester ?? "")], read)
    return RequestBudget(all: all, own: share ?? RequestBudget.Row())
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

  /// Returns the pending requests to a user, each once.
  private func pendingRequests(
    to user: UserID, at now: Int64
  ) throws -> [(requester: String, expires: Int64)] {
    // The additions of 0 keep PostgreSQL from using the index by time, which spans the requests of all users: each step
    // would conflict with every other.
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
