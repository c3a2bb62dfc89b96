package import SignetConcurrency
import SignetSQL

extension Storage {
  /// Adds a transaction, unless its user is asked too often.
  ///
  /// One that nobody is named for is not counted; neither is one that a device made. With a revoked key nothing is
  /// written.
  ///
  /// - Parameters:
  ///   - transaction: What is added.
  ///   - key: The API key with which it is made; `nil` for none.
  ///   - limits: How often a user may be asked.
  ///   - asking: How authenticators without a list of what waits are asked; it is not added where nobody could answer it. With `nil`
  ///     nobody looks for one.
  ///   - audit: Makes the event.
  /// - Returns: Whether it was added.
  /// - Throws: ``StorageFailure/unknown`` when there is no such user, ``StorageFailure/exists`` when there is one of this id.
  public func addTransaction(
    _ transaction: TransactionRecord, key: String?, limits: TransactionLimits,
    asking: TransactionAsking? = nil, audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> AdmissionOutcome {
    try await write { database in
      guard try database.isKeyGood(key) else { return .keyRevoked }
      if let user = transaction.user { try database.requireActive(user) }
      let outcome = try database.add(transaction, limits, asking)
      try database.appendAdmission(audit(outcome), outcome, to: transaction.user)
      if outcome == .added, let asking { try database.insert(asking) }
      return outcome
    }
  }

  /// The transaction of this id; `nil` for none.
  public func transaction(_ id: String) async throws(StorageFailure) -> TransactionRecord? {
    try await read { try $0.transaction(id) }
  }

  /// A user's pending transactions that have not expired at `time`, oldest first, at most 64.
  public func pendingTransactions(
    user: String, at time: Int64
  ) async throws(StorageFailure) -> [TransactionRecord] {
    try await read { [codes] database in
      try database.rows(
        """
        SELECT \(TransactionRecord.columns) FROM transactions WHERE user_id = $1 AND state = 'pending' AND expires > $2
        ORDER BY created, number LIMIT 64
        """, [.text(user), .integer(time)]
      ) { try TransactionRecord($0, codes) }
    }
  }

  /// Transactions, those that were made last first.
  ///
  /// - Parameters:
  ///   - filter: Which.
  ///   - id: Only what was made before this one; from the last where there is none of this id.
  ///   - time: Now: one that waits and is past its end has expired.
  ///   - limit: At most so many.
  /// - Returns: The transactions.
  /// - Throws: ``StorageFailure``.
  public func transactions(
    _ filter: TransactionFilter, before id: String?, at time: Int64, limit: Int
  ) async throws(StorageFailure) -> [TransactionRecord] {
    try await read { [codes] database in
      try database.rows(
        """
        SELECT \(TransactionRecord.columns) FROM transactions
        WHERE (user_id = $1 OR $1 IS NULL)
          AND (CASE WHEN state = 'pending' AND expires <= $3 THEN 'expired' ELSE state END = $2 OR $2 IS NULL)
          AND number < coalesce((SELECT number FROM transactions WHERE id = $4), 9223372036854775807)
        ORDER BY number DESC LIMIT $5
        """,
        [
          .optional(filter.user), .optional(filter.state?.rawValue), .integer(time), .optional(id),
          .int(max(0, limit)),
        ]
      ) { try TransactionRecord($0, codes) }
    }
  }

  /// Decides a transaction; the first end wins.
  ///
  /// In one step: the signer is still the one whose keys were used, the request's id is used up, `judge` sees the transaction,
  /// and what it says is written down. A container that sent too many wrong signatures in a row is refused whatever it
  /// sends, so nothing is learnt from it. Where the number is wrong, that is counted, and at the limit the transaction is
  /// denied. A transaction for anybody becomes that of the container's user.
  ///
  /// - Parameters:
  ///   - attempt: The request.
  ///   - limits: Wrong signatures, and wrong numbers, after which nothing is taken.
  ///   - judge: Compares the decision with the transaction, which is the signer's user's or anybody's; it may be called
  ///     again where the step has to be repeated. Where it throws, nothing is changed. It can ask when the signer's last report
  ///     came.
  ///   - audit: Makes the event.
  /// - Returns: How it ended, or ``StorageFailure``, once it is durable; a listener hears it on the thread that writes, and must
  ///   not block.
  package func decideTransaction(
    _ attempt: DecisionAttempt, limits: TransactionLimits,
    judge:
      @escaping @Sendable (
        TransactionRecord, _ lastReport: () throws(StorageFailure) -> Int64?
      ) throws(StorageFailure) -> DecisionVerdict,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord
  ) -> Completion<DecisionOutcome> {
    begin { database in
      let signer = attempt.signer
      guard let (failed, isLocked, owner) = try database.standing(of: signer) else { return .signerChanged }
      let isFirst = try database.claim(
        attempt.request, container: signer.container, expires: attempt.expires)
      guard isFirst else { return .replayed }
      guard let found = try database.transaction(attempt.transaction), found.isAsked(of: .container),
        found.user == nil || found.user == signer.user
      else { return .unknown }
      let (decision, isSigned, hasRightNumber): (DecisionRecord, Bool, Bool)
      let verdict = try judge(found) { () throws(StorageFailure) in
        do { return try database.lastReport(of: signer.container) } catch { throw StorageFailure(error) }
      }
      switch verdict {
      case .mismatch(let reason): return .mismatch(reason: reason)
      case .reportDue(let reason): return .reportDue(reason: reason)
      case .take(let record, let signed, let right):
        (decision, isSigned, hasRightNumber) = (record, signed, right)
      }
      // A no is taken of the device of a suspended user too, as of one that is locked.
      if decision.state == .accepted { try database.requireActive(owner, owning: signer.user) }
      let refusal = try database.countSignature(
        of: signer.container, failed: failed, isGood: isSigned, limit: limits.wrongSignatures)
      let outcome: DecisionOutcome
      if let refusal {
        outcome = refusal
      } else if isLocked, decision.state == .accepted {
        outcome = .containerLocked
      } else if hasRightNumber {
        outcome = try database.decide(found, decision, by: signer.user)
        if outcome == .decided {
          try database.noteAnswer(of: signer.user, to: found, decision.state, at: decision.time, limits)
        }
      } else {
        outcome = try database.countWrongNumber(found, decision, by: signer.user, limits)
      }
      switch outcome {
      case .repeated: break
      case .decided: try database.appendAudit(audit(outcome))
      default: try database.appendRepeatable(audit(outcome), of: .container(signer.container))
      }
      return outcome
    }
  }

  /// Ends a transaction without a decision; the first end wins.
  ///
  /// With a revoked key nothing is written.
  ///
  /// - Parameters:
  ///   - id: The transaction.
  ///   - end: How, by whom and why; one by a container has to be that of its user.
  ///   - isSuspicious: Whether the user finds that somebody else asked: the next transaction has to wait then.
  ///   - key: The API key of a relying party that ends it; `nil` for none.
  ///   - limits: How long the next has to wait.
  ///   - audit: Makes the event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  public func endTransaction(
    _ id: String, _ end: EndRecord, isSuspicious: Bool, key: String?, limits: TransactionLimits,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> DecisionOutcome {
    try await write { database in
      guard try database.isKeyGood(key) else { return .keyRevoked }
      let actor = try end.container.flatMap { try database.container($0) }
      let outcome = try database.end(id, end, by: actor)
      if outcome == .decided, isSuspicious, let ended = try database.transaction(id), let user = ended.user {
        try database.noteAnswer(of: user, to: ended, .reported, at: end.time, limits)
      }
      if outcome != .repeated {
        if let container = end.container, outcome != .decided {
          try database.appendRepeatable(audit(outcome), of: .container(container))
        } else {
          try database.appendAudit(audit(outcome))
        }
      }
      return outcome
    }
  }
}

extension SQLConnection {
  // Put together once, for each decision.
  private static let transactionByID =
    "SELECT \(TransactionRecord.columns) FROM transactions WHERE id = $1"
  /// The transaction of an id.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  func transaction(_ id: String) throws -> TransactionRecord? {
    let codes = try rowCodes
    return try row(Self.transactionByID, [.text(id)]) { try TransactionRecord($0, codes) }
  }

  /// Adds a transaction, unless there are too many for its user, or nobody could answer it.
  func add(
    _ transaction: TransactionRecord, _ limits: TransactionLimits, _ asking: TransactionAsking?
  ) throws -> AdmissionOutcome {
    if let asking, try !canAnswer(transaction, asking) { return .noAuthenticator }
    let outcome = try admit(transaction, limits)
    if outcome == .added {
      try insert(transaction)
      try noteChange(of: transaction.id)
    }
    return outcome
  }

  /// Counts a transaction for its user, unless there are too many.
  fileprivate func admit(_ transaction: TransactionRecord, _ limits: TransactionLimits) throws
    -> AdmissionOutcome
  {
    guard let user = transaction.user, !transaction.isInitiatedByDevice else { return .added }
    return try admitRequest(to: user, by: transaction.requester, at: transaction.created, limits)
  }

  /// Uses up the id of a signed request.
  ///
  /// - Returns: Whether it was not used before.
  func claim(_ request: [UInt8], container: String, expires: Int64) throws -> Bool {
    try execute(
      "INSERT INTO requests (id, container, expires) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      [.blob(request), .text(container), .integer(expires)]) == 1
  }

  /// Decides a transaction for a container, which has to be active and its user's.
  func decide(_ id: String, _ decision: DecisionRecord) throws -> DecisionOutcome {
    guard let found = try transaction(id), let user = try user(of: decision.container) else {
      return .unknown
    }
    return try decide(found, decision, by: user)
  }

  fileprivate func decide(
    _ found: TransactionRecord, _ decision: DecisionRecord, by user: String
  ) throws -> DecisionOutcome {
    if let refusal = try refusal(of: found, decision.state, by: (decision.container, user), at: decision.time)
    {
      return refusal
    }
    var decided = found
    (decided.user, decided.state, decided.decision) = (user, decision.state, decision)
    try execute(
      """
      UPDATE transactions SET state = $1, decision = $2, container = $3, decided = $4, typed = $6, user_id = $7,
        last_report = $8, code = $9
      WHERE id = $5 AND state = 'pending'
      """,
      [
        .text(decision.state.rawValue), .optional(decision.jws), .text(decision.container),
        .integer(decision.time), .text(found.id), .int(decision.isTyped ? 1 : 0), .text(user),
        .optional(decision.lastReport), .optional(rowCodes.code(of: decided.image)),
      ], changing: 1)
    try noteEnd(of: found.id, user: user, at: decision.time)
    return .decided
  }

  fileprivate func countWrongNumber(
    _ found: TransactionRecord, _ decision: DecisionRecord, by user: String, _ limits: TransactionLimits
  ) throws -> DecisionOutcome {
    let id = found.id
    if let refusal = try refusal(of: found, decision.state, by: (decision.container, user), at: decision.time)
    {
      return refusal
    }
    let count = try number(
      "UPDATE transactions SET wrong_numbers = wrong_numbers + 1 WHERE id = $1 RETURNING wrong_numbers",
      [.text(id)])
    let remaining = max(0, limits.wrongNumbers - Int(clamping: count ?? 0))
    if remaining == 0 {
      try write(
        EndRecord(
          state: .denied, reason: EndRecord.wrongNumber, container: decision.container, time: decision.time),
        of: found, by: user)
    }
    return .wrongNumber(remaining: remaining)
  }

  fileprivate func end(
    _ id: String, _ end: EndRecord, by container: ContainerRecord?
  ) throws -> DecisionOutcome {
    guard let found = try transaction(id) else { return .unknown }
    guard end.container == nil || container?.state == .active else { return .unknown }
    let actor = container.map { (container: $0.id, user: $0.user) }
    if let refusal = try refusal(of: found, end.state, by: actor, at: end.time) { return refusal }
    try write(end, of: found, by: actor?.user)
    return .decided
  }

  /// Writes an end down; a transaction for anybody becomes that of the user who ends it.
  private func write(_ end: EndRecord, of found: TransactionRecord, by user: String?) throws {
    var ended = found
    ended.user = found.user ?? user
    try execute(
      """
      UPDATE transactions SET state = $1, end_reason = $2, end_message = $3, container = $4, decided = $5, user_id = $6, code = $7
      WHERE id = $8 AND state = 'pending'
      """,
      [
        .text(end.state.rawValue), .text(end.reason), .text(end.message), .optional(end.container),
        .integer(end.time), .optional(ended.user), .optional(rowCodes.code(of: ended.image)), .text(found.id),
      ], changing: 1)
    try noteEnd(of: found.id, user: ended.user, at: end.time)
  }

  /// Withdraws requests that wait, because nobody is there to answer them.
  ///
  /// - Parameters:
  ///   - column: The column by which they are found.
  ///   - value: What that column holds.
  ///   - reason: Why.
  ///   - time: When.
  ///   - ended: Makes the event of each, of its id.
  /// - Throws: ``SQLFailure``.
  func withdraw(
    where column: String, _ value: String, because reason: String, at time: Int64,
    _ ended: (String) -> AuditRecord
  ) throws {
    let requests = try rows(
      """
      UPDATE transactions SET state = 'withdrawn', end_reason = $1, end_message = '', decided = $2
      WHERE \(column) = $3 AND state = 'pending' RETURNING id
      """, [.text(reason), .integer(time), .text(value)]
    ) { try $0.text(0) }
    for request in requests {
      try noteChange(of: request)
      try appendAudit(ended(request))
    }
  }

  /// Whose an active container is; `nil` for any other.
  private func user(of container: String) throws -> String? {
    try self.container(container).flatMap { $0.state == .active ? $0.user : nil }
  }

  /// Why a transaction can't be brought to an end now; `nil` where it is open, and who ends it may.
  ///
  /// The actor is who ends it; the relying party is none. What is found to have expired is written down in the same step, before
  /// anybody is told: a clock that is set back does not open it again.
  func refusal(
    of found: TransactionRecord, _ state: TransactionRecord.State,
    by actor: (container: String, user: String)?, at time: Int64
  ) throws -> DecisionOutcome? {
    if let actor {
      guard found.isAsked(of: .container), found.user == nil || found.user == actor.user else {
        return .unknown
      }
    }
    let container = actor?.container
    switch found.state(at: time) {
    case .pending: return nil
    case .expired:
      try expire(found.id, at: time)
      return .expired
    case .accepted, .denied, .reported:
      let isSame = found.state == state && found.decision != nil && found.decision?.container == container
      return isSame ? .repeated : .decidedBefore
    case .cancelled, .withdrawn:
      return found.state == state && found.end?.container == container ? .repeated : .cancelled
    }
  }
}

extension SQLConnection {
  /// Marks a transaction that waits, and whose time is over, with its event.
  ///
  /// - Returns: Whether it waited.
  @discardableResult
  func expire(_ id: String, at time: Int64) throws -> Bool {
    let expired = try execute(
      "UPDATE transactions SET state = 'expired' WHERE id = $1 AND state = 'pending'", [.text(id)])
    guard expired == 1 else { return false }
    try noteChange(of: id)
    try appendAudit(AuditRecord(.transactionExpired(transaction: id), by: .server, at: time))
    return true
  }
}
