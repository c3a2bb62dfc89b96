import SignetSQL
package import SignetSystem

extension Storage {
  /// Adds a transaction, unless its user is asked too often.
  ///
  /// A transaction without a user does not count against the rate limit, and neither does one that a device initiated. If
  /// the API key is revoked, nothing is written.
  ///
  /// - Parameters:
  ///   - transaction: The transaction to add.
  ///   - key: The API key of the caller; `nil` for none.
  ///   - limits: The rate limits for requests to one user.
  ///   - authenticatorRequests: How authenticators that cannot list pending requests are asked; the transaction is not added if no
  ///     authenticator can answer it. `nil` skips that check.
  ///   - audit: Makes the event.
  /// - Returns: Whether the transaction was added, or the reason why not.
  /// - Throws: ``StorageFailure/unknown`` for an unknown user, ``StorageFailure/exists`` for an id that exists.
  package func addTransaction(
    _ transaction: TransactionRecord, key: ID<APIKeyRecord>?, limits: TransactionLimits,
    authenticatorRequests: AuthenticatorRequestRecords? = nil,
    audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> AdmissionOutcome {
    try await write { database in
      guard try database.isKeyValid(key) else { return .keyRevoked }
      if let user = transaction.user { try database.requireUsable(user: user) }
      let outcome = try database.add(transaction, limits, authenticatorRequests)
      try database.appendAudit(audit(outcome), as: outcome.entry(to: transaction.user))
      if outcome == .added, let authenticatorRequests { try database.insert(authenticatorRequests) }
      return outcome
    }
  }

  /// Returns the transaction with this id; `nil` for none.
  package func transaction(_ id: TransactionID) async throws(StorageFailure) -> TransactionRecord? {
    try await read { try $0.transaction(id) }
  }

  /// Returns an active container and its user's pending transactions that have not expired at `time`, oldest first, at most 64.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - time: The current time, in seconds since 1970.
  /// - Returns: Both, read from one state of the database; `nil` if there is no such container, or it is not active.
  /// - Throws: ``StorageFailure/userNotActive(_:)``; ``StorageFailure``.
  package func pendingTransactions(
    ofContainer id: ContainerID, at time: Int64
  ) async throws(StorageFailure) -> (container: ContainerRecord, transactions: [TransactionRecord])? {
    try await read { database in
      guard let container = try database.requireUsable(userOfContainer: id), container.state == .active else {
        return nil
      }
      return (container, try database.pendingTransactions(user: container.user, at: time))
    }
  }

  /// Lists transactions, newest first.
  ///
  /// - Parameters:
  ///   - filter: Which transactions.
  ///   - id: Lists only transactions that were added before this one; starts at the newest if the id is unknown.
  ///   - time: The current time: a pending transaction that has reached its end counts as expired.
  ///   - limit: The maximum number of transactions.
  /// - Returns: The transactions.
  /// - Throws: ``StorageFailure``.
  package func transactions(
    _ filter: TransactionFilter, before id: TransactionID?, at time: Int64, limit: Int
  ) async throws(StorageFailure) -> [TransactionRecord] {
    try await read {
      try $0.records(
        """
        WHERE (user_id = $1 OR $1 IS NULL)
          AND (CASE WHEN state = 'pending' AND expires <= $3 THEN 'expired' ELSE state END = $2 OR $2 IS NULL)
          AND number < coalesce((SELECT number FROM transactions WHERE id = $4), 9223372036854775807)
        ORDER BY number DESC LIMIT $5
        """,
        [
          .optional(filter.user), .optional(filter.state?.rawValue), .integer(time), .optional(id),
          .int(max(0, limit)),
        ])
    }
  }

  /// Decides a transaction; the first end wins.
  ///
  /// One step does all of this: it checks that the signer still has the keys that were used, claims the request id, passes
  /// the transaction to `check`, and writes the verdict. A container with too many consecutive wrong signatures is rejected
  /// for any input, so that an attacker learns nothing from the answers. A wrong number is counted, and at the limit the
  /// transaction is denied. A transaction without a user gets the user of the container.
  ///
  /// - Parameters:
  ///   - attempt: The request.
  ///   - limits: The limits of wrong signatures and wrong numbers.
  ///   - check: Compares the decision with the transaction, which is the signer's user's or has no user. It may run again if
  ///     the step is retried. If it throws, nothing is changed. It can query the time of the signer's last report.
  ///   - audit: Makes the event.
  /// - Returns: The outcome or ``StorageFailure``, once it is durable. A listener is called on the thread that writes, and
  ///   must not block.
  package func decideTransaction(
    _ attempt: DecisionAttempt, limits: TransactionLimits,
    check:
      @escaping @Sendable (
        TransactionRecord, _ lastReport: () throws(StorageFailure) -> Int64?
      ) throws(StorageFailure) -> DecisionVerdict,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord
  ) -> Completion<DecisionOutcome> {
    begin { database in
      let signer = attempt.signer
      guard let (failed, isLocked, owner) = try database.status(of: signer) else { return .signerChanged }
      let isFirst = try database.claim(attempt.request, of: signer.container.text, expires: attempt.expires)
      guard isFirst else { return .replayed }
      guard let found = try database.transaction(attempt.transaction),
        found.isAsked(of: .container, of: signer.user)
      else { return .unknown }
      let verdict = try check(found) { () throws(StorageFailure) in
        do { return try database.lastReport(of: signer.container) } catch { throw StorageFailure(error) }
      }
      switch verdict {
      case .mismatch(let reason): return .mismatch(reason: reason)
      case .reportDue(let reason): return .reportDue(reason: reason)
      case .accept(let decision, let isSigned, let hasRightNumber):
        if decision.isGrant { try database.requireUsable(owner: owner, named: signer.user) }
        let refusal = try database.countSignature(
          of: signer.container, failed: failed, isValid: isSigned, limit: limits.wrongSignatures)
        let ending = found.ending(
          by: decision, of: signer.user, after: refusal, isLocked: isLocked, hasRightNumber: hasRightNumber,
          limits)
        try database.apply(ending.change, to: found.id, at: decision.time)
        try database.appendAudit(
          audit(ending.outcome), as: ending.outcome.entry(of: .container(signer.container)))
        return ending.outcome
      }
    }
  }

  /// Ends a transaction without a decision; the first end wins.
  ///
  /// If the API key is revoked, nothing is written.
  ///
  /// - Parameters:
  ///   - id: The transaction.
  ///   - end: The state, the actor and the reason; a container must belong to the transaction's user.
  ///   - isSuspicious: True if the user says that somebody else asked: the next transaction then has to wait.
  ///   - key: The API key of the relying party that ends it; `nil` for none.
  ///   - limits: The waiting time for the next transaction.
  ///   - audit: Makes the event.
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure``.
  package func endTransaction(
    _ id: TransactionID, _ end: EndRecord, isSuspicious: Bool, key: ID<APIKeyRecord>?,
    limits: TransactionLimits,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> DecisionOutcome {
    try await write { database in
      guard try database.isKeyValid(key) else { return .keyRevoked }
      let container = try end.container.flatMap { try database.container($0) }
      let ending =
        try database.transaction(id)?.ending(
          by: end, of: container, isSuspicious ? .beginsWait(limits) : .nothing)
        ?? TransactionEnding(.unknown)
      try database.apply(ending.change, to: id, at: end.time)
      try database.appendAudit(
        audit(ending.outcome), as: ending.outcome.entry(of: end.container.map { .container($0) }))
      return ending.outcome
    }
  }
}

extension SQLConnection {
  private static let pendingOfUser = """
    SELECT \(TransactionRecord.columns) FROM transactions WHERE user_id = $1 AND state = 'pending' AND expires > $2
    ORDER BY created, number LIMIT 64
    """

  fileprivate func pendingTransactions(user: UserID, at time: Int64) throws -> [TransactionRecord] {
    let mac = try rowMAC
    return try rows(Self.pendingOfUser, [.of(user), .integer(time)]) { try TransactionRecord($0, mac) }
  }

  // Built once, because each decision uses it.
  private static let transactionByID =
    "SELECT \(TransactionRecord.columns) FROM transactions WHERE id = $1"
  /// Returns the transaction with this id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify; ``SQLFailure``.
  func transaction(_ id: TransactionID) throws -> TransactionRecord? {
    let mac = try rowMAC
    return try row(Self.transactionByID, [.of(id)]) { try TransactionRecord($0, mac) }
  }

  /// Returns the time of the container's last decision, cancellation or initiated transaction.
  ///
  /// `nil` if there is none. Also `nil` if the MAC of the latest such row does not verify, because that row proves nothing.
  func lastDecision(by container: ContainerID) throws -> Int64? {
    let last: [TransactionRecord] = try intactRecords(
      "WHERE container = $1 AND decided IS NOT NULL ORDER BY decided DESC LIMIT 1", [.of(container)])
    return last.first?.decided
  }

  /// Adds a transaction, unless its user is asked too often, or no authenticator can answer it.
  func add(
    _ transaction: TransactionRecord, _ limits: TransactionLimits,
    _ authenticatorRequests: AuthenticatorRequestRecords?
  ) throws -> AdmissionOutcome {
    if let authenticatorRequests, try !canAnswer(transaction, authenticatorRequests, at: transaction.created)
    {
      return .noAuthenticator
    }
    let outcome =
      try transaction.countedUser.map {
        try admitRequest(to: $0, by: transaction.requester, at: transaction.created, limits)
      } ?? .added
    if outcome == .added {
      try insert(transaction)
      try recordChange(of: transaction.id)
    }
    return outcome
  }

  /// Claims the id of a signed request, which prevents a replay.
  ///
  /// - Returns: `true` if the id was not claimed before.
  func claim(_ request: [UInt8], of claimant: String, expires: Int64) throws -> Bool {
    try execute(
      "INSERT INTO requests (id, container, expires) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      [.blob(request), .text(claimant), .integer(expires)]) == 1
  }

  /// Writes the effect of an attempt to end a transaction.
  func apply(_ change: TransactionEnding.Change?, to transaction: TransactionID, at time: Int64) throws {
    switch change {
    case nil: break
    case .expires: try expire(transaction, at: time)
    case .counts(let wrongNumbers):
      try execute(
        "UPDATE transactions SET wrong_numbers = $1 WHERE id = $2 AND state = 'pending'",
        [.int(wrongNumbers), .of(transaction)], changing: 1)
    case .ends(let ended, let effect):
      try end(ended, at: time)
      if let user = ended.user { try apply(effect, of: user, by: ended.requester, at: time) }
    }
  }

  /// Writes the end of a pending transaction.
  func end(_ ended: TransactionRecord, at time: Int64) throws {
    try execute(
      """
      UPDATE transactions SET state = $1, user_id = $2, decided = $3, decision = $4, container = $5, typed = $6,
        last_report = $7, uaf_session = $8, app = $9, app_message = $10, evidence = $11, evidence_key = $12,
        end_reason = $13, end_message = $14, wrong_numbers = $15, code = $16
      WHERE id = $17 AND state = 'pending'
      """,
      [
        .of(ended.state), .optional(ended.user), .integer(time), .optional(ended.decision?.jws),
        .optional(ended.decision?.container ?? ended.end?.container),
        .int(ended.decision?.isTyped ?? false ? 1 : 0), .optional(ended.decision?.lastReport),
        .optional(ended.uaf?.session), .optional(ended.app?.mechanism), .optional(ended.app?.message),
        .optional(ended.evidence?.bytes), .optional(ended.evidence?.sealedKey), .optional(ended.end?.reason),
        .optional(ended.end?.message), .int(ended.wrongNumbers), .optional(rowMAC.mac(of: ended.image)),
        .of(ended.id),
      ], changing: 1)
    try recordEnd(of: ended.id, user: ended.user, at: time)
  }

  /// Withdraws pending requests that no authenticator can answer; requests that have reached their end expire instead.
  ///
  /// - Parameters:
  ///   - condition: The SQL condition that selects them; `$1` is the value.
  ///   - value: The value.
  ///   - reason: The reason that is stored.
  ///   - time: The time of the withdrawal.
  ///   - ended: Makes the event for the id of each.
  /// - Throws: ``SQLFailure``.
  func withdraw(
    where condition: String, _ value: SQLValue, because reason: String, at time: Int64,
    _ ended: (TransactionID) -> AuditRecord
  ) throws {
    // Expiry is final, even if no step has recorded it yet.
    try expire(where: "\(condition) AND expires <= $2", [value, .integer(time)], at: time)
    _ = try endWaiting(
      "state = 'withdrawn', end_reason = $2, end_message = '', decided = $3", where: condition,
      [value, .text(reason), .integer(time)], ended)
  }

  /// Marks a pending transaction as expired, and writes its event.
  ///
  /// The caller checks the time.
  func expire(_ id: TransactionID, at time: Int64) throws {
    try expire(where: "id = $1", [.of(id)], at: time)
  }

  private func expire(where condition: String, _ values: [SQLValue], at time: Int64) throws {
    _ = try endWaiting("state = 'expired'", where: condition, values) {
      AuditRecord(.transactionExpired(transaction: $0), by: .server, at: time)
    }
  }

  /// Ends pending transactions without a decision, and writes an event for each.
  ///
  /// - Returns: The number of transactions.
  func endWaiting(
    _ assignments: String, where condition: String, _ values: [SQLValue],
    _ ended: (TransactionID) -> AuditRecord
  ) throws -> Int {
    let transactions = try rows(
      "UPDATE transactions SET \(assignments) WHERE state = 'pending' AND \(condition) RETURNING id", values
    ) { row -> TransactionID in try row.id(0) }
    for transaction in transactions {
      try recordChange(of: transaction)
      try appendAudit(ended(transaction))
    }
    return transactions.count
  }
}
