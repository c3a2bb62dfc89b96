import SignetSQLite

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func addTransaction(
    _ transaction: TransactionRecord, key: String?, limits: TransactionLimits,
    audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> AdmissionOutcome {
    try await writer.write { database in
      guard try database.isKeyGood(key) else { return .keyRevoked }
      let outcome = try database.add(transaction, limits)
      try database.appendAudit(audit(outcome))
      return outcome
    }
  }

  /// As ``Storage`` says.
  public func transaction(_ id: String) async throws(StorageFailure) -> TransactionRecord? {
    try await reader.read { try codes.checked($0.transaction(id)) }
  }

  /// As ``Storage`` says.
  public func pendingTransactions(
    user: String, at time: Int64
  ) async throws(StorageFailure) -> [TransactionRecord] {
    try await reader.read { database in
      try database.query(
        """
        SELECT * FROM transactions WHERE user = ? AND state = 'pending' AND expires > ?
        ORDER BY created, number LIMIT 64
        """, .text(user), .integer(time)
      ).map { try codes.checked(TransactionRecord($0)) }
    }
  }

  /// As ``Storage`` says.
  public func transactions(
    _ filter: TransactionFilter, before id: String?, at time: Int64, limit: Int
  ) async throws(StorageFailure) -> [TransactionRecord] {
    try await reader.read { database in
      try database.query(
        """
        SELECT * FROM transactions
        WHERE (?1 IS NULL OR user = ?1)
          AND (?2 IS NULL OR ?2 = CASE WHEN state = 'pending' AND expires <= ?3 THEN 'expired' ELSE state END)
          AND number < coalesce((SELECT number FROM transactions WHERE id = ?4), 9223372036854775807)
        ORDER BY number DESC LIMIT ?5
        """, .optional(filter.user), .optional(filter.state?.rawValue), .integer(time), .optional(id),
        .int(max(0, limit))
      ).map { try codes.checked(TransactionRecord($0)) }
    }
  }

  /// As ``Storage`` says.
  public func decideTransaction(
    _ attempt: DecisionAttempt, limits: TransactionLimits,
    judge: @escaping @Sendable (TransactionRecord) throws(StorageFailure) -> DecisionVerdict,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord,
    then listener: @escaping @Sendable (Result<DecisionOutcome, StorageFailure>) -> Void
  ) {
    writer.write { database in
      let signer = attempt.signer
      guard let (failed, isLocked) = try database.failedSignatures(of: signer) else { return .signerChanged }
      let isFirst = try database.claim(
        attempt.request, container: signer.container, expires: attempt.expires)
      guard isFirst else { return .replayed }
      guard let found = try database.transaction(attempt.transaction),
        found.user == nil || found.user == signer.user
      else { return .unknown }
      let (decision, isSigned, hasRightNumber): (DecisionRecord, Bool, Bool)
      switch try judge(found) {
      case .mismatch(let reason): return .mismatch(reason: reason)
      case .take(let record, let signed, let right):
        (decision, isSigned, hasRightNumber) = (record, signed, right)
      }
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
          try database.noteAnswer(to: found.id, decision.state, at: decision.time, limits)
        }
      } else {
        outcome = try database.countWrongNumber(found, decision, by: signer.user, limits)
      }
      if outcome != .repeated { try database.appendAudit(audit(outcome)) }
      return outcome
    } then: {
      listener($0)
    }
  }

  /// As ``Storage`` says.
  public func endTransaction(
    _ id: String, _ end: EndRecord, isSuspicious: Bool, key: String?, limits: TransactionLimits,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> DecisionOutcome {
    try await writer.write { database in
      guard try database.isKeyGood(key) else { return .keyRevoked }
      let outcome = try database.end(id, end)
      if outcome == .decided, isSuspicious {
        try database.noteAnswer(to: id, .reported, at: end.time, limits)
      }
      if outcome != .repeated { try database.appendAudit(audit(outcome)) }
      return outcome
    }
  }
}

extension Database {
  func transaction(_ id: String) throws -> TransactionRecord? {
    try query("SELECT * FROM transactions WHERE id = ?", .text(id)).first.map { try TransactionRecord($0) }
  }

  func insert(_ transaction: TransactionRecord) throws {
    try execute(
      """
      INSERT INTO transactions (id, user, content, statuses, created, expires, sealed_number, initiated, state, decision,
        container, decided, typed_fields)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      .text(transaction.id), .optional(transaction.user), .text(transaction.content),
      .text(transaction.statuses.joined(separator: " ")), .integer(transaction.created),
      .integer(transaction.expires), .optional(transaction.sealedNumber),
      .int(transaction.isInitiatedByDevice ? 1 : 0), .text(transaction.state.rawValue),
      .optional(transaction.decision?.jws), .optional(transaction.decision?.container),
      .optional(transaction.decision?.time),
      .optional(transaction.typedFields?.map { "\($0)" }.joined(separator: " ")))
  }

  /// Adds a transaction, unless there are too many for its user.
  func add(_ transaction: TransactionRecord, _ limits: TransactionLimits) throws -> AdmissionOutcome {
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
    let found = try query("SELECT challenges, challenge_after FROM users WHERE id = ?", .text(user)).first
    guard let found else { return .added }  // the insertion says that there is no such user
    let now = transaction.created
    let after = try found.integer("challenge_after")
    guard after <= now else { return .coolingDown(retryAfter: min(after - now, limits.longestWait)) }
    let pending = try query(
      """
      SELECT count(*) AS count, min(expires) AS first FROM transactions
      WHERE user = ? AND state = 'pending' AND expires > ?
      """, .text(user), .integer(now)
    ).first
    if let pending, try pending.integer("count") >= limits.pending {
      return .tooManyPending(retryAfter: (try pending.optionalInteger("first") ?? now + 1) - now)
    }
    let count = Int(clamping: try found.integer("challenges")) + 1
    let wait = limits.wait(after: count)
    try execute(
      "UPDATE users SET challenges = ?, challenge_after = ? WHERE id = ?", .int(count),
      .integer(wait > 0 ? now + wait : 0), .text(user))
    return .added
  }

  /// An acceptance ends a row of transactions that were not accepted; a report begins a wait.
  func noteAnswer(
    to id: String, _ state: TransactionRecord.State, at time: Int64, _ limits: TransactionLimits
  ) throws {
    switch state {
    case .accepted:
      try execute(
        """
        UPDATE users SET challenges = 0, challenge_after = 0
        WHERE id = (SELECT user FROM transactions WHERE id = ?) AND (challenges > 0 OR challenge_after > 0)
        """, .text(id))
    case .reported:
      let found = try query(
        "SELECT users.id, challenges FROM users JOIN transactions ON users.id = transactions.user WHERE transactions.id = ?",
        .text(id)
      ).first
      guard let found else { return }
      let count = max(Int(clamping: try found.integer("challenges")), limits.challenges - 1) + 1
      try execute(
        "UPDATE users SET challenges = ?, challenge_after = ? WHERE id = ?", .int(count),
        .integer(time + limits.wait(after: count)), .text(try found.text("id")))
    default: return
    }
  }

  /// Uses up the id of a signed request.
  ///
  /// - Returns: Whether it was not used before.
  func claim(_ request: [UInt8], container: String, expires: Int64) throws(SQLiteFailure) -> Bool {
    try execute(
      "INSERT INTO requests (id, container, expires) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", .blob(request),
      .text(container), .integer(expires))
    return changes == 1
  }

  /// The wrong signatures in a row of an active container, and whether the server has locked it; `nil` where it is not the signer any
  /// more.
  fileprivate func failedSignatures(
    of signer: SignerRecord
  ) throws(SQLiteFailure) -> (count: Int64, isLocked: Bool)? {
    let row = try query(
      """
      SELECT failed_signatures, standing = 'locked' AS locked FROM containers WHERE id = ? AND state = 'active'
        AND user = ? AND device = ? AND session_key = ? AND signing_key = ?
      """, .text(signer.container), .text(signer.user), .blob(signer.device), .blob(signer.sessionKey),
      .blob(signer.signingKey)
    ).first
    guard let row else { return nil }
    return (try row.integer("failed_signatures"), try row.integer("locked") != 0)
  }

  /// Counts a wrong signature, forgets the wrong ones before a good one, and says why nothing is to be decided.
  func countSignature(of container: String, isGood: Bool, limit: Int) throws -> DecisionOutcome? {
    let found = try query(
      "SELECT failed_signatures FROM containers WHERE id = ? AND state = 'active'", .text(container)
    ).first
    guard let found else { return .unknown }
    return try countSignature(
      of: container, failed: found.integer("failed_signatures"), isGood: isGood, limit: limit)
  }

  fileprivate func countSignature(
    of container: String, failed: Int64, isGood: Bool, limit: Int
  ) throws -> DecisionOutcome? {
    guard failed < limit else { return .locked }
    guard !isGood || failed > 0 else { return nil }
    let count = isGood ? 0 : failed + 1
    try execute(
      "UPDATE containers SET failed_signatures = ? WHERE id = ?", .integer(count), .text(container))
    return isGood ? nil : .notSigned
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
    try execute(
      """
      UPDATE transactions SET state = ?1, decision = ?2, container = ?3, decided = ?4, typed = ?6, user = ?7
      WHERE id = ?5 AND state = 'pending'
      """,
      .text(decision.state.rawValue), .optional(decision.jws), .text(decision.container),
      .integer(decision.time), .text(found.id), .int(decision.isTyped ? 1 : 0), .text(user))
    try noteChange(of: found.id)
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
    try execute("UPDATE transactions SET wrong_numbers = wrong_numbers + 1 WHERE id = ?", .text(id))
    let count = try query("SELECT wrong_numbers FROM transactions WHERE id = ?", .text(id)).first
    let remaining = max(0, limits.wrongNumbers - Int(clamping: try count?.integer("wrong_numbers") ?? 0))
    if remaining == 0 {
      try write(
        id,
        EndRecord(
          state: .denied, reason: "wrongNumber", container: decision.container, time: decision.time))
    }
    return .wrongNumber(remaining: remaining)
  }

  fileprivate func end(_ id: String, _ end: EndRecord) throws -> DecisionOutcome {
    guard let found = try transaction(id) else { return .unknown }
    var actor: (container: String, user: String)?
    if let container = end.container {
      guard let user = try user(of: container) else { return .unknown }
      actor = (container, user)
    }
    if let refusal = try refusal(of: found, end.state, by: actor, at: end.time) { return refusal }
    try write(id, end)
    return .decided
  }

  private func write(_ id: String, _ end: EndRecord) throws {
    try execute(
      """
      UPDATE transactions SET state = ?1, end_reason = ?2, end_message = ?3, container = ?4, decided = ?5,
        user = coalesce(user, (SELECT user FROM containers WHERE id = ?4))
      WHERE id = ?6 AND state = 'pending'
      """,
      .text(end.state.rawValue), .text(end.reason), .text(end.message), .optional(end.container),
      .integer(end.time), .text(id))
    try noteChange(of: id)
  }

  /// Whose an active container is; `nil` for any other.
  private func user(of container: String) throws(SQLiteFailure) -> String? {
    try query("SELECT user FROM containers WHERE id = ? AND state = 'active'", .text(container))
      .first?.text("user")
  }

  /// Why a transaction can't be brought to an end now; `nil` where it is open, and who ends it may.
  ///
  /// The actor is who ends it; the relying party is none. What is found to have expired is written down in the same step, before
  /// anybody is told: a clock that is set back does not open it again.
  func refusal(
    of found: TransactionRecord, _ state: TransactionRecord.State,
    by actor: (container: String, user: String)?, at time: Int64
  ) throws -> DecisionOutcome? {
    if let actor, found.user != nil, found.user != actor.user { return .unknown }
    let container = actor?.container
    switch found.state(at: time) {
    case .pending: return nil
    case .expired:
      try expire(found.id)
      return .expired
    case .accepted, .denied, .reported:
      let isSame = found.state == state && found.decision != nil && found.decision?.container == container
      return isSame ? .repeated : .decidedBefore
    case .cancelled, .withdrawn:
      return found.state == state && found.end?.container == container ? .repeated : .cancelled
    }
  }
}

extension Database {
  /// Marks a transaction that waits, and whose time is over.
  ///
  /// - Returns: Whether it waited.
  @discardableResult
  func expire(_ id: String) throws -> Bool {
    try execute("UPDATE transactions SET state = 'expired' WHERE id = ? AND state = 'pending'", .text(id))
    guard changes == 1 else { return false }
    try noteChange(of: id)
    return true
  }
}

extension TransactionRecord {
  init(_ row: Row) throws(SQLiteFailure) {
    guard let state = State(rawValue: try row.text("state")) else {
      throw .unexpectedValue(column: "state", expected: "a known state", found: "another text")
    }
    self.init(
      id: try row.text("id"), user: try row.optionalText("user"), content: try row.text("content"),
      statuses: try row.text("statuses").split(separator: " ").map(String.init),
      created: try row.integer("created"), expires: try row.integer("expires"), state: state)
    sealedNumber = try row.optionalBlob("sealed_number")
    typedFields = try row.optionalText("typed_fields")?.split(separator: " ").compactMap { Int($0) }
    isInitiatedByDevice = try row.integer("initiated") != 0
    if let session = try row.optionalText("uaf_session") {
      var acceptance = UAFAcceptance(session: session, time: try row.integer("decided"))
      acceptance.code = try row.optionalBlob("uaf_code")
      uaf = acceptance
    }
    if let reason = try row.optionalText("end_reason") {
      end = EndRecord(
        state: state, reason: reason, message: try row.text("end_message"),
        container: try row.optionalText("container"), time: try row.integer("decided"))
    } else if let container = try row.optionalText("container") {
      decision = DecisionRecord(
        state: state, jws: try row.optionalText("decision"), container: container,
        time: try row.integer("decided"), isTyped: try row.integer("typed") != 0)
    }
  }
}
