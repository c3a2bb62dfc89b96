import SignetSQL

extension Storage {
  /// Adds an operation, in the state `tokenCreated` or `requested`.
  ///
  /// An operation that is sent to a device counts against the user's budget of requests. Exceptions are deregistrations, and an operation
  /// for a transaction that is counted already, where its target was not sent that transaction before. An operation for a transaction that is
  /// over when it is created is not added.
  ///
  /// - Parameters:
  ///   - session: The operation.
  ///   - basis: What authenticates the UAF client that asks; `nil` where another caller asks.
  ///   - asked: The transaction that the operation answers, where it is to be stored with it; `nil` for none.
  ///   - limits: The budget of requests.
  ///   - audit: Makes the event; `nil` for none.
  /// - Returns: Whether the operation was added.
  /// - Throws: ``StorageFailure/unknown`` for an unknown user; ``StorageFailure/exists`` for an id that exists;
  ///   ``StorageFailure/deviceLocked`` where the target's device is locked and the operation is no deregistration, or where `basis` is on a
  ///   locked device; ``StorageFailure/unauthorized`` where `basis` is no longer valid.
  public func addUAFSession(
    _ session: UAFSessionRecord, by basis: UAFBasis? = nil, answering asked: UAFAsking? = nil,
    limits: TransactionLimits,
    audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord?
  ) async throws(StorageFailure) -> AdmissionOutcome {
    let codes = codes
    return try await write { database in
      if session.isGrant {
        if let user = session.user { try database.requireActive(user) }
        try database.requireUnlockedDevice(ofTarget: session.target, codes)
      }
      try database.requireUse(of: basis, codes)
      if let asked {
        let outcome = try database.add(asked, limits)
        guard outcome == .added else { return outcome }
      }
      let outcome = try database.admit(session, answering: asked?.transaction, limits, codes)
      if let event = audit(outcome) { try database.appendAdmission(event, outcome, to: session.user) }
      return outcome
    }
  }

  /// Adds an operation for an unauthenticated client, unless the client has too many recent operations without success.
  ///
  /// An operation is recent for as long as the new one lasts.
  ///
  /// - Parameters:
  ///   - session: The operation, with its client.
  ///   - limit: The maximum number of such operations, the new one included.
  /// - Returns: Whether the operation was added.
  /// - Throws: ``StorageFailure``.
  public func addUAFSession(
    _ session: UAFSessionRecord, ofClientWithAtMost limit: Int
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await write { database in
      let count = try database.number(
        "SELECT count(*) FROM uaf_sessions WHERE client = $1 AND state <> 'succeeded' AND created > $2",
        [.optional(session.client), .integer(session.created - (session.expires - session.created))])
      guard count ?? 0 < limit else { return false }
      try database.add(session, codes)
      return true
    }
  }

  /// The operation of this id; `nil` for none.
  public func uafSession(_ id: String) async throws(StorageFailure) -> UAFSessionRecord? {
    try await read { [codes] in try $0.uafSession(id, codes) }
  }

  /// The operation whose token has this digest; `nil` for none.
  public func uafSession(tokenDigest: [UInt8]) async throws(StorageFailure) -> UAFSessionRecord? {
    try await read { [codes] in try $0.uafSession(tokenDigest: tokenDigest, codes) }
  }

  /// The operations whose tokens a target can redeem, newest first, at most 64.
  public func pendingUAFSessions(
    target: String, at time: Int64
  ) async throws(StorageFailure) -> [UAFSessionRecord] {
    try await read { [codes] database in
      try database.rows(
        """
        SELECT \(UAFSessionRecord.columns) FROM uaf_sessions WHERE target = $1 AND state = 'tokenCreated' AND token_expires > $2
        ORDER BY created DESC, id LIMIT 64
        """, [.text(target), .integer(time)]
      ) { try UAFSessionRecord($0, codes) }
    }
  }

  /// Redeems a token, at most once.
  ///
  /// - Parameters:
  ///   - digest: The digest of the token.
  ///   - request: The request that the client gets for it.
  ///   - time: The time of the call, in seconds since 1970.
  ///   - expires: When the request expires, in seconds since 1970.
  ///   - audit: The event, written where the token is redeemed.
  /// - Returns: Whether this call redeemed the token; an expired one is not redeemed.
  /// - Throws: ``StorageFailure``; ``StorageFailure/deviceLocked`` as ``addUAFSession(_:by:answering:limits:audit:)`` does.
  public func redeemUAFToken(
    _ digest: [UInt8], request: [UInt8], at time: Int64, until expires: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await write { database in
      guard var found = try database.uafSession(tokenDigest: digest, codes), found.state == .tokenCreated,
        let end = found.tokenExpires, end > time
      else { return false }
      if found.isGrant {
        if let user = found.user { try database.requireActive(owner: user) }
        // The target may have been removed while the token was sent.
        guard try database.requireUnlockedDevice(ofTarget: found.target, codes) else { return false }
      }
      (found.state, found.request, found.expires, found.sealedPayload) = (.requested, request, expires, nil)
      try database.update(found, codes)
      try database.appendAudit(audit)
      return true
    }
  }

  /// Ends an open operation as failed.
  ///
  /// - Returns: Whether it was open.
  public func failUAFSession(
    _ id: String, _ end: UAFSessionEnd, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await write { database in
      guard let found = try database.uafSession(id, codes), found.isOpen else { return false }
      try database.fail(found, end, audit, codes)
      return true
    }
  }

  /// Ends an expired operation as failed; one that was redeemed or answered meanwhile stays as it is.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - end: The status and the time of its end.
  ///   - audit: The event, written where this call ends the operation.
  /// - Returns: The operation after the step; `nil` where there is none.
  /// - Throws: ``StorageFailure``.
  public func expireUAFSession(
    _ id: String, _ end: UAFSessionEnd, audit: AuditRecord
  ) async throws(StorageFailure) -> UAFSessionRecord? {
    let codes = codes
    return try await write { database in
      guard let found = try database.uafSession(id, codes), found.isOver(at: end.time) else {
        return try database.uafSession(id, codes)
      }
      try database.fail(found, end, audit, codes)
      return try database.uafSession(id, codes)
    }
  }
}

extension SQLConnection {
  func uafSession(_ id: String, _ codes: RowCodes) throws -> UAFSessionRecord? {
    try row("SELECT \(UAFSessionRecord.columns) FROM uaf_sessions WHERE id = $1", [.text(id)]) {
      try UAFSessionRecord($0, codes)
    }
  }

  fileprivate func uafSession(tokenDigest: [UInt8], _ codes: RowCodes) throws -> UAFSessionRecord? {
    try row(
      "SELECT \(UAFSessionRecord.columns) FROM uaf_sessions WHERE token_digest = $1", [.blob(tokenDigest)]
    ) { try UAFSessionRecord($0, codes) }
  }

  /// Adds an operation where it may begin, and counts it where it counts.
  ///
  /// - Parameters:
  ///   - session: The operation.
  ///   - new: Its transaction, where this step has added that.
  ///   - limits: The budget of requests.
  ///   - codes: The codes of rows.
  /// - Returns: Whether it was added.
  /// - Throws: ``StorageFailure``, ``SQLFailure``.
  fileprivate func admit(
    _ session: UAFSessionRecord, answering new: TransactionRecord?, _ limits: TransactionLimits,
    _ codes: RowCodes
  ) throws -> AdmissionOutcome {
    let transaction = try new ?? session.transaction.flatMap { try self.transaction($0) }
    switch UAFOperationAdmission(of: session, answering: transaction, wasSent: try wasSent(session)) {
    case .transactionOver(let expired):
      if let expired { try expire(expired, at: session.created) }
      return .transactionOver
    case .admissible(let session):
      if let user = session.user, let requester = session.requester {
        let outcome = try admitRequest(to: user, by: requester, at: session.created, limits)
        guard outcome == .added else { return outcome }
      }
      try add(session, codes)
      return .added
    }
  }

  /// Whether an operation's target was sent its transaction before.
  private func wasSent(_ session: UAFSessionRecord) throws -> Bool {
    guard let transaction = session.transaction, let target = session.target else { return false }
    return try exists(
      "SELECT 1 FROM uaf_sessions WHERE txn = $1 AND target = $2 LIMIT 1",
      [.text(transaction), .text(target)])
  }

  /// Inserts an operation, and notifies the waiting devices of its user.
  func add(_ session: UAFSessionRecord, _ codes: RowCodes) throws {
    try insert(session, codes)
    try noteChange(ofWhatWaitsFor: session)
  }

  /// Notifies the waiting devices of the user that their list of operations has changed.
  private func noteChange(ofWhatWaitsFor session: UAFSessionRecord) throws {
    if session.target != nil, let user = session.user { try noteChange(ofUser: user) }
  }

  /// Writes the columns of an operation that can change, and the MAC of the row.
  fileprivate func update(_ session: UAFSessionRecord, _ codes: RowCodes) throws {
    _ = try execute(
      """
      UPDATE uaf_sessions SET user_id = $1, request = $2, expires = $3, sealed_payload = $4, state = $5, status = $6,
        asm_status = $7, client_error = $8, authenticators = $9, ended = $10, code = $11
      WHERE id = $12
      """,
      [
        .optional(session.user), .optional(session.request), .integer(session.expires),
        .optional(session.sealedPayload), .text(session.state.rawValue),
        .optional(session.end.map { Int64($0.status) }), .optional(session.end?.asmStatus.map(Int64.init)),
        .optional(session.end?.clientError.map(Int64.init)), .optional(session.end?.authenticators),
        .optional(session.end?.time), .optional(codes.code(of: session.image)), .text(session.id),
      ])
    try noteChange(ofWhatWaitsFor: session)
  }

  /// Ends an operation in a state.
  func end(
    _ session: UAFSessionRecord, _ end: UAFSessionEnd, _ state: UAFSessionRecord.State, _ codes: RowCodes
  ) throws {
    var session = session
    (session.state, session.end) = (state, end)
    try update(session, codes)
  }

  /// Adds a transaction that the operation which is about to be added answers.
  fileprivate func add(_ asked: UAFAsking, _ limits: TransactionLimits) throws -> AdmissionOutcome {
    guard try isKeyGood(asked.key) else { return .keyRevoked }
    var asking = TransactionAsking()
    asking.mayAskUAFKeys = true
    let outcome = try add(asked.transaction, limits, asking)
    try appendAdmission(asked.audit(outcome), outcome, to: asked.transaction.user)
    return outcome
  }

  /// Ends an operation as failed, with its event, and its transaction where nothing of the user's can answer that any more.
  fileprivate func fail(
    _ session: UAFSessionRecord, _ end: UAFSessionEnd, _ audit: AuditRecord, _ codes: RowCodes
  ) throws {
    try self.end(session, end, .failed, codes)
    try appendAudit(audit)
    if session.transaction != nil, let user = session.user {
      try endUnanswerable(of: user, after: audit, at: end.time)
    }
  }

  /// Ends an operation with success; one that counts clears the user's count of requests that were not accepted.
  func succeed(_ session: UAFSessionRecord, _ end: UAFSessionEnd, _ codes: RowCodes) throws {
    try self.end(session, end, .succeeded, codes)
    if session.requester != nil, let user = session.user { try endRow(of: user) }
  }

  /// Ends all open operations of a user as failed.
  func failUAFSessions(of user: String, _ end: UAFSessionEnd, _ codes: RowCodes) throws {
    try failUAFSessions(where: "user_id = $1", [.text(user)], end, codes)
  }

  /// Ends the open operations of a user that may concern a device as failed, except deregistrations.
  ///
  /// These are the operations of the device's targets, and registrations without a target. An authentication without a target stays open:
  /// the step that ends it refuses keys on a locked device.
  func failUAFSessions(
    on device: String, of user: String, _ end: UAFSessionEnd, _ codes: RowCodes
  ) throws {
    try failUAFSessions(
      where: """
        user_id = $1 AND operation <> 'Dereg' AND ((operation = 'Reg' AND target IS NULL)
          OR target IN (SELECT id FROM uaf_targets WHERE user_id = $1 AND device = $2))
        """, [.text(user), .text(device)], end, codes)
  }

  /// Ends the open operations of a target as failed, except deregistrations.
  func failUAFSessions(ofTarget target: String, _ end: UAFSessionEnd, _ codes: RowCodes) throws {
    try failUAFSessions(where: "target = $1 AND operation <> 'Dereg'", [.text(target)], end, codes)
  }

  /// Ends the open registrations of a user that may be on a device as failed.
  func failUAFRegistrations(
    on device: String, of user: String, _ end: UAFSessionEnd, _ codes: RowCodes
  ) throws {
    try failUAFSessions(
      where: """
        user_id = $1 AND operation = 'Reg' AND (target IS NULL
          OR target IN (SELECT id FROM uaf_targets WHERE user_id = $1 AND device = $2))
        """, [.text(user), .text(device)], end, codes)
  }

  /// Ends the open operations of a transaction as failed, because the transaction has ended.
  func failUAFSessions(ofTransaction transaction: String, at time: Int64, _ codes: RowCodes) throws {
    try failUAFSessions(
      where: "txn = $1", [.text(transaction)],
      UAFSessionEnd(status: UAFOutcome.transactionOver.status, time: time), codes)
  }

  /// Ends open operations as failed.
  private func failUAFSessions(
    where condition: String, _ parameters: [SQLValue], _ end: UAFSessionEnd, _ codes: RowCodes
  ) throws {
    for session in try openUAFSessions(where: condition, parameters, codes) {
      try self.end(session, end, .failed, codes)
    }
  }

  /// Open operations.
  ///
  /// A row with a wrong MAC is left out. No response to it is accepted, and it must not block the lock of a device.
  func openUAFSessions(
    where condition: String, _ parameters: [SQLValue], _ codes: RowCodes
  ) throws -> [UAFSessionRecord] {
    try rows(
      """
      SELECT \(UAFSessionRecord.columns) FROM uaf_sessions
      WHERE \(UAFSessionRecord.isOpenCondition) AND \(condition)
      """, parameters
    ) { row -> UAFSessionRecord? in
      do { return try UAFSessionRecord(row, codes) } catch StorageFailure.altered { return nil }
    }.compactMap(\.self)
  }

  /// Ends an operation as failed, with the status of an outcome.
  func fail(
    _ session: UAFSessionRecord, _ end: UAFSessionEnd, _ outcome: UAFOutcome, _ codes: RowCodes
  ) throws -> UAFOutcome {
    var failure = end
    (failure.status, failure.authenticators) = (outcome.status, "[]")
    try self.end(session, failure, .failed, codes)
    return outcome
  }

  /// The operation of this id, if its request was sent and has not expired; `nil` otherwise.
  func requestedUAFSession(_ id: String, at time: Int64, _ codes: RowCodes) throws -> UAFSessionRecord? {
    guard let found = try uafSession(id, codes), found.state == .requested, found.expires > time else {
      return nil
    }
    return found
  }
}

extension UAFSessionRecord {
  /// Whether its user has to be active and its device unlocked: not for deregistrations, which suspended users and locked devices get too.
  var isGrant: Bool { operation != "Dereg" }
}
