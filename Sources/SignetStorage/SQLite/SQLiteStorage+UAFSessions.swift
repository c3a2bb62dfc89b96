import SignetSQLite

extension SQLiteStorage {
  /// As ``UAFStorage`` says.
  public func addUAFSession(
    _ session: UAFSessionRecord, audit: AuditRecord?
  ) async throws(StorageFailure) {
    let codes = codes
    try await writer.write { database in
      try database.insert(session, codes)
      if let audit { try database.appendAudit(audit) }
    }
  }

  /// As ``UAFStorage`` says.
  public func addUAFSession(
    _ session: UAFSessionRecord, ofClientWithAtMost limit: Int
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await writer.write { database in
      let rows = try database.query(
        """
        SELECT 1 FROM uaf_sessions WHERE client = ? AND state <> 'succeeded' AND created > ? LIMIT ?
        """, .optional(session.client), .integer(session.created - (session.expires - session.created)),
        .int(max(0, limit)))
      guard rows.count < limit else { return false }
      try database.insert(session, codes)
      return true
    }
  }

  /// As ``UAFStorage`` says.
  public func uafSession(_ id: String) async throws(StorageFailure) -> UAFSessionRecord? {
    try await reader.read { try $0.uafSession(id, codes) }
  }

  /// As ``UAFStorage`` says.
  public func uafSession(tokenDigest: [UInt8]) async throws(StorageFailure) -> UAFSessionRecord? {
    try await reader.read { try $0.uafSession(tokenDigest: tokenDigest, codes) }
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
      ).map { try UAFSessionRecord($0, codes) }
    }
  }

  /// As ``UAFStorage`` says.
  public func redeemUAFToken(
    _ digest: [UInt8], request: [UInt8], at time: Int64, until expires: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await writer.write { database in
      guard var found = try database.uafSession(tokenDigest: digest, codes), found.state == .tokenCreated,
        let end = found.tokenExpires, end > time
      else { return false }
      (found.state, found.request, found.expires, found.sealedPayload) = (.requested, request, expires, nil)
      try database.update(found, codes)
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``UAFStorage`` says.
  public func failUAFSession(
    _ id: String, _ end: UAFSessionEnd, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await writer.write { database in
      guard let found = try database.uafSession(id, codes), found.isOpen else { return false }
      try database.end(found, end, .failed, codes)
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``UAFStorage`` says.
  public func finishUAFRegistration(
    _ id: String, _ end: UAFSessionEnd, adding credentials: [UAFCredentialRecord], limit: Int,
    audit: @escaping @Sendable (UAFOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> UAFOutcome {
    let codes = codes
    return try await writer.write { database in
      let outcome = try database.finishRegistration(id, end, credentials, limit, codes)
      try database.appendAudit(audit(outcome))
      return outcome
    }
  }

  /// As ``UAFStorage`` says.
  public func finishUAFDeregistration(
    _ id: String, of user: String, _ end: UAFSessionEnd, removing selection: [UAFKeySelection],
    audit: AuditRecord, removed: @escaping @Sendable (String, [UInt8]) -> AuditRecord
  ) async throws(StorageFailure) -> UAFOutcome {
    let codes = codes
    return try await writer.write { database in
      guard let session = try database.openSession(id, at: end.time, codes), session.user == user else {
        return .over
      }
      _ = try database.removeUAFCredentials(of: user, selection, audit: removed)
      try database.end(session, end, .succeeded, codes)
      try database.appendAudit(audit)
      return .taken
    }
  }

  /// As ``UAFStorage`` says.
  public func finishUAFAuthentication(
    _ id: String, of user: String, _ end: UAFSessionEnd, uses: [UAFKeyUse], limits: TransactionLimits,
    audit: @escaping @Sendable (UAFOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> UAFOutcome {
    let codes = codes
    return try await writer.write { database in
      let outcome = try database.finishAuthentication(id, user, end, uses, limits, codes)
      try database.appendAudit(audit(outcome))
      return outcome
    }
  }
}

extension Database {
  fileprivate func uafSession(_ id: String, _ codes: RowCodes) throws -> UAFSessionRecord? {
    try query("SELECT * FROM uaf_sessions WHERE id = ?", .text(id)).first
      .map { try UAFSessionRecord($0, codes) }
  }

  fileprivate func uafSession(tokenDigest: [UInt8], _ codes: RowCodes) throws -> UAFSessionRecord? {
    try query("SELECT * FROM uaf_sessions WHERE token_digest = ?", .blob(tokenDigest)).first
      .map { try UAFSessionRecord($0, codes) }
  }

  fileprivate func insert(_ session: UAFSessionRecord, _ codes: RowCodes) throws {
    try execute(
      """
      INSERT INTO uaf_sessions (id, operation, user, context, txn, request, token_digest, token_expires, created, expires,
        dispatcher, target, sealed_payload, client, state, code)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .text(session.id), .text(session.operation), .optional(session.user),
      .optional(session.context), .optional(session.transaction), .optional(session.request),
      .optional(session.tokenDigest), .optional(session.tokenExpires), .integer(session.created),
      .integer(session.expires), .optional(session.dispatcher), .optional(session.target),
      .optional(session.sealedPayload), .optional(session.client), .text(session.state.rawValue),
      .optional(codes.code(of: session.image)))
  }

  /// Writes what changes of an operation, with the code of the whole.
  fileprivate func update(_ session: UAFSessionRecord, _ codes: RowCodes) throws {
    try execute(
      """
      UPDATE uaf_sessions SET user = ?, request = ?, expires = ?, sealed_payload = ?, state = ?, status = ?,
        asm_status = ?, client_error = ?, authenticators = ?, ended = ?, code = ?
      WHERE id = ?
      """, .optional(session.user), .optional(session.request), .integer(session.expires),
      .optional(session.sealedPayload), .text(session.state.rawValue),
      .optional(session.end.map { Int64($0.status) }), .optional(session.end?.asmStatus.map(Int64.init)),
      .optional(session.end?.clientError.map(Int64.init)), .optional(session.end?.authenticators),
      .optional(session.end?.time), .optional(codes.code(of: session.image)), .text(session.id))
  }

  fileprivate func end(
    _ session: UAFSessionRecord, _ end: UAFSessionEnd, _ state: UAFSessionRecord.State, _ codes: RowCodes
  ) throws {
    var session = session
    (session.state, session.end) = (state, end)
    try update(session, codes)
  }

  /// Ends an operation as failed, in the step that found out why.
  private func fail(
    _ session: UAFSessionRecord, _ end: UAFSessionEnd, _ outcome: UAFOutcome, _ codes: RowCodes
  ) throws -> UAFOutcome {
    var failure = end
    (failure.status, failure.authenticators) = (outcome.status, "[]")
    try self.end(session, failure, .failed, codes)
    return outcome
  }

  fileprivate func openSession(_ id: String, at time: Int64, _ codes: RowCodes) throws -> UAFSessionRecord? {
    guard let found = try uafSession(id, codes), found.state == .requested, found.expires > time else {
      return nil
    }
    return found
  }

  fileprivate func finishRegistration(
    _ id: String, _ end: UAFSessionEnd, _ credentials: [UAFCredentialRecord], _ limit: Int, _ codes: RowCodes
  ) throws -> UAFOutcome {
    guard let session = try openSession(id, at: end.time, codes) else { return .over }
    for credential in credentials where try uafCredential(credential.aaid, credential.keyID, codes) != nil {
      return try fail(session, end, .keyExists, codes)
    }
    if let user = credentials.first?.user {
      let present = try query(
        "SELECT 1 FROM uaf_credentials WHERE user = ? LIMIT ?", .text(user), .int(max(0, limit)))
      guard present.count + credentials.count <= limit else {
        return try fail(session, end, .tooMany, codes)
      }
    }
    for credential in credentials { try insert(credential, codes) }
    try self.end(session, end, .succeeded, codes)
    return .taken
  }

  fileprivate func finishAuthentication(
    _ id: String, _ user: String, _ end: UAFSessionEnd, _ uses: [UAFKeyUse], _ limits: TransactionLimits,
    _ codes: RowCodes
  ) throws -> UAFOutcome {
    guard var session = try openSession(id, at: end.time, codes), session.user == nil || session.user == user
    else { return .over }
    var pending: TransactionRecord?
    if let name = session.transaction {
      let named = try transaction(name)
      if let named, named.state(at: end.time) == .expired { try expire(named.id) }
      guard let transaction = named, transaction.state(at: end.time) == .pending,
        transaction.user == nil || transaction.user == user
      else { return try fail(session, end, .transactionOver, codes) }
      pending = transaction
    }
    // One key that is refused refuses them all; what the others have proved counts all the same.
    var firstRefusal: UAFOutcome?
    for use in uses {
      guard let refusal = try count(use, of: user, codes) else { continue }
      firstRefusal = firstRefusal ?? refusal
    }
    if let firstRefusal { return try fail(session, end, firstRefusal, codes) }
    if var pending {
      pending.user = user
      let acceptance = UAFAcceptance(session: id, time: end.time)
      try execute(
        """
        UPDATE transactions SET state = 'accepted', uaf_session = ?, decided = ?, user = ?, uaf_code = ?
        WHERE id = ? AND state = 'pending'
        """, .text(id), .integer(end.time), .text(user),
        .optional(codes.code(of: pending.image(of: acceptance))), .text(pending.id))
      try noteChange(of: pending.id)
      try noteAnswer(to: pending.id, .accepted, at: end.time, limits)
    }
    session.user = user
    try self.end(session, end, .succeeded, codes)
    return .taken
  }
}

extension UAFSessionRecord {
  /// Whether a response, or a client, may still come.
  fileprivate var isOpen: Bool { state == .requested || state == .tokenCreated }

  /// Reads a row.
  ///
  /// - Throws: ``StorageFailure/altered(row:)`` for one that this server has not written so; `SQLiteFailure`.
  fileprivate init(_ row: Row, _ codes: RowCodes) throws {
    guard let state = State(rawValue: try row.text("state")) else {
      throw SQLiteFailure.unexpectedValue(
        column: "state", expected: "a known state", found: "another text")
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
    client = try row.optionalBlob("client")
    try codes.check(image, try row.optionalBlob("code"), named: "\(id) of uaf_sessions")
  }
}
