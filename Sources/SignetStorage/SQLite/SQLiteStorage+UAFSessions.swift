import SignetSQLite

extension SQLiteStorage {
  /// As ``UAFStorage`` says.
  public func addUAFSession(
    _ session: UAFSessionRecord, audit: AuditEvent?
  ) async throws(StorageFailure) {
    try await writer.write { database in
      try database.execute(
        """
        INSERT INTO uaf_sessions (id, operation, user, context, txn, request, token_digest, token_expires, created, expires,
          dispatcher, target, sealed_payload, state)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, .text(session.id), .text(session.operation), .optional(session.user),
        .optional(session.context), .optional(session.transaction), .optional(session.request),
        .optional(session.tokenDigest), .optional(session.tokenExpires), .integer(session.created),
        .integer(session.expires), .optional(session.dispatcher), .optional(session.target),
        .optional(session.sealedPayload), .text(session.state.rawValue))
      if let audit { try database.appendAudit(audit) }
    }
  }

  /// As ``UAFStorage`` says.
  public func uafSession(_ id: String) async throws(StorageFailure) -> UAFSessionRecord? {
    try await reader.read { try $0.uafSession(id) }
  }

  /// As ``UAFStorage`` says.
  public func uafSession(tokenDigest: [UInt8]) async throws(StorageFailure) -> UAFSessionRecord? {
    try await reader.read { database in
      try database.query("SELECT * FROM uaf_sessions WHERE token_digest = ?", .blob(tokenDigest)).first
        .map { try UAFSessionRecord($0) }
    }
  }

  /// As ``UAFStorage`` says.
  public func pendingUAFSessions(
    target: String, at time: Int64
  ) async throws(StorageFailure) -> [UAFSessionRecord] {
    try await reader.read { database in
      try database.query(
        """
        SELECT * FROM uaf_sessions WHERE target = ? AND state = 'tokenCreated' AND token_expires > ?
        ORDER BY created DESC, id LIMIT 64
        """, .text(target), .integer(time)
      ).map { try UAFSessionRecord($0) }
    }
  }

  /// As ``UAFStorage`` says.
  public func redeemUAFToken(
    _ digest: [UInt8], request: [UInt8], at time: Int64, until expires: Int64, audit: AuditEvent
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        """
        UPDATE uaf_sessions SET state = 'requested', request = ?, expires = ?, sealed_payload = NULL
        WHERE token_digest = ? AND state = 'tokenCreated' AND token_expires > ?
        """, .blob(request), .integer(expires), .blob(digest), .integer(time))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``UAFStorage`` says.
  public func failUAFSession(
    _ id: String, _ end: UAFSessionEnd, audit: AuditEvent
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      guard try database.end(uafSession: id, end, .failed, isInTimeOnly: false) else { return false }
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``UAFStorage`` says.
  public func finishUAFRegistration(
    _ id: String, _ end: UAFSessionEnd, adding credentials: [UAFCredentialRecord],
    audit: @escaping @Sendable (UAFOutcome) -> AuditEvent
  ) async throws(StorageFailure) -> UAFOutcome {
    try await writer.write { database in
      let outcome = try database.finishRegistration(id, end, credentials)
      try database.appendAudit(audit(outcome))
      return outcome
    }
  }

  /// As ``UAFStorage`` says.
  public func finishUAFAuthentication(
    _ id: String, of user: String, _ end: UAFSessionEnd, uses: [UAFKeyUse], limits: TransactionLimits,
    audit: @escaping @Sendable (UAFOutcome) -> AuditEvent
  ) async throws(StorageFailure) -> UAFOutcome {
    try await writer.write { database in
      let outcome = try database.finishAuthentication(id, user, end, uses, limits)
      try database.appendAudit(audit(outcome))
      return outcome
    }
  }
}

extension Database {
  fileprivate func uafSession(_ id: String) throws -> UAFSessionRecord? {
    try query("SELECT * FROM uaf_sessions WHERE id = ?", .text(id)).first.map { try UAFSessionRecord($0) }
  }

  /// Ends an operation that waits for its response.
  ///
  /// - Returns: Whether it did, in time where that matters.
  fileprivate func end(
    uafSession id: String, _ end: UAFSessionEnd, _ state: UAFSessionRecord.State, isInTimeOnly: Bool
  ) throws -> Bool {
    try execute(
      """
      UPDATE uaf_sessions SET state = ?, status = ?, asm_status = ?, client_error = ?, authenticators = ?, ended = ?
      WHERE id = ? AND state IN ('requested', 'tokenCreated') AND expires > ?
      """, .text(state.rawValue), .int(end.status), .optional(end.asmStatus.map(Int64.init)),
      .optional(end.clientError.map(Int64.init)), .text(end.authenticators), .integer(end.time), .text(id),
      .integer(isInTimeOnly ? end.time : .min))
    return changes == 1
  }

  /// Ends an operation as failed, in the step that found out why.
  private func fail(_ id: String, _ end: UAFSessionEnd, status: Int, _ outcome: UAFOutcome) throws
    -> UAFOutcome
  {
    var failure = end
    (failure.status, failure.authenticators) = (status, "[]")
    _ = try self.end(uafSession: id, failure, .failed, isInTimeOnly: false)
    return outcome
  }

  private func openSession(_ id: String, at time: Int64) throws -> UAFSessionRecord? {
    guard let found = try uafSession(id), found.state == .requested, found.expires > time else { return nil }
    return found
  }

  fileprivate func finishRegistration(
    _ id: String, _ end: UAFSessionEnd, _ credentials: [UAFCredentialRecord]
  ) throws -> UAFOutcome {
    guard try openSession(id, at: end.time) != nil else { return .over }
    for credential in credentials where try uafCredential(credential.aaid, credential.keyID) != nil {
      return try fail(id, end, status: 1498, .keyExists)
    }
    for credential in credentials { try insert(credential) }
    guard try self.end(uafSession: id, end, .succeeded, isInTimeOnly: true) else { return .over }
    return .taken
  }

  fileprivate func finishAuthentication(
    _ id: String, _ user: String, _ end: UAFSessionEnd, _ uses: [UAFKeyUse], _ limits: TransactionLimits
  ) throws -> UAFOutcome {
    guard let session = try openSession(id, at: end.time), session.user == nil || session.user == user else {
      return .over
    }
    if let name = session.transaction {
      guard let transaction = try transaction(name), transaction.state(at: end.time) == .pending,
        transaction.user == nil || transaction.user == user
      else { return try fail(id, end, status: 1408, .transactionOver) }
    }
    // One key that is refused refuses them all; what the others have proved counts all the same.
    var firstRefusal: UAFOutcome?
    for use in uses {
      guard let refusal = try count(use, of: user) else { continue }
      firstRefusal = firstRefusal ?? refusal
    }
    if let firstRefusal { return try fail(id, end, status: 1498, firstRefusal) }
    if let name = session.transaction {
      try execute(
        """
        UPDATE transactions SET state = 'accepted', uaf_session = ?, decided = ?, user = ? WHERE id = ? AND state = 'pending'
        """, .text(id), .integer(end.time), .text(user), .text(name))
      try noteChange(of: name)
      try noteAnswer(to: name, .accepted, at: end.time, limits)
    }
    try execute("UPDATE uaf_sessions SET user = ? WHERE id = ?", .text(user), .text(id))
    guard try self.end(uafSession: id, end, .succeeded, isInTimeOnly: true) else { return .over }
    return .taken
  }
}

extension UAFSessionRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    guard let state = State(rawValue: try row.text("state")) else {
      throw .unexpectedValue(column: "state", expected: "a known state", found: "another text")
    }
    self.init(
      id: try row.text("id"), operation: try row.text("operation"), user: try row.optionalText("user"),
      context: try row.optionalText("context"), created: try row.integer("created"),
      expires: try row.integer("expires"), state: state)
    transaction = try row.optionalText("txn")
    request = try row.optionalBlob("request")
    tokenDigest = try row.optionalBlob("token_digest")
    tokenExpires = try row.optionalInteger("token_expires")
    dispatcher = try row.optionalText("dispatcher")
    target = try row.optionalText("target")
    sealedPayload = try row.optionalBlob("sealed_payload")
    if let status = try row.optionalInteger("status") {
      end = UAFSessionEnd(
        status: Int(clamping: status),
        asmStatus: try row.optionalInteger("asm_status").map { Int(clamping: $0) },
        clientError: try row.optionalInteger("client_error").map { Int(clamping: $0) },
        authenticators: try row.text("authenticators"), time: try row.integer("ended"))
    }
  }
}
