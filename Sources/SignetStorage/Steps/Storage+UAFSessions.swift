import SignetSQL

extension Storage {
  /// Adds an operation: one whose token waits, or one whose request is on its way.
  ///
  /// One that reaches a device of a user's is a request in the user's budget, unless it removes keys, or asks a transaction that is counted
  /// already of a target that has not been asked it.
  ///
  /// - Parameters:
  ///   - session: The operation.
  ///   - basis: What its user is known by, from no locked device; `nil` where others ask.
  ///   - limits: How often a user may be asked.
  ///   - audit: Makes the event; `nil` for none.
  /// - Returns: Whether it was added.
  /// - Throws: ``StorageFailure/unknown`` when there is no such user, ``StorageFailure/exists`` when there is one of this id,
  ///   ``StorageFailure/deviceLocked`` when its token is for a device that is locked, and is not to deregister, or `basis` is on one,
  ///   ``StorageFailure/unauthorized`` where `basis` holds no more.
  public func addUAFSession(
    _ session: UAFSessionRecord, by basis: UAFBasis? = nil, limits: TransactionLimits,
    audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord?
  ) async throws(StorageFailure) -> AdmissionOutcome {
    let codes = codes
    return try await write { database in
      if session.isGrant {
        if let user = session.user { try database.requireActive(user) }
        try database.requireUnlockedDevice(ofTarget: session.target, codes)
      }
      try database.requireUse(of: basis, codes)
      var session = session
      let outcome = try database.admit(&session, limits)
      if outcome == .added { try database.add(session, codes) }
      if let event = audit(outcome) { try database.appendAdmission(event, outcome, to: session.user) }
      return outcome
    }
  }

  /// Adds an operation that a stranger asked for, unless too many of the same client's were begun lately and not answered well.
  ///
  /// Lately is as long as the operation lasts.
  ///
  /// - Parameters:
  ///   - session: The operation, which has a client.
  ///   - limit: How many there may be.
  /// - Returns: Whether it was added.
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

  /// The operations whose tokens wait for a target, newest first, at most 64.
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

  /// Redeems a token, which happens once.
  ///
  /// - Parameters:
  ///   - digest: Of the token.
  ///   - request: The request that is given for it.
  ///   - time: When.
  ///   - expires: Until when a response is taken.
  ///   - audit: The event, written where it is redeemed.
  /// - Returns: Whether this call redeemed it, in time.
  /// - Throws: ``StorageFailure``; ``StorageFailure/deviceLocked`` as ``addUAFSession(_:by:limits:audit:)`` does.
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
        // One that was sent while its target was removed.
        guard try database.requireUnlockedDevice(ofTarget: found.target, codes) else { return false }
      }
      (found.state, found.request, found.expires, found.sealedPayload) = (.requested, request, expires, nil)
      try database.update(found, codes)
      try database.appendAudit(audit)
      return true
    }
  }

  /// Ends an operation without success.
  ///
  /// - Returns: Whether it was open.
  public func failUAFSession(
    _ id: String, _ end: UAFSessionEnd, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await write { database in
      guard let found = try database.uafSession(id, codes), found.isOpen else { return false }
      try database.end(found, end, .failed, codes)
      try database.appendAudit(audit)
      return true
    }
  }

  /// Ends an operation whose time is over, in the step that finds it so: not one that was redeemed or answered meanwhile.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - end: How it ends, and when.
  ///   - audit: The event, written where it ends.
  /// - Returns: The operation as it stands then; `nil` where there is none.
  /// - Throws: ``StorageFailure``.
  public func expireUAFSession(
    _ id: String, _ end: UAFSessionEnd, audit: AuditRecord
  ) async throws(StorageFailure) -> UAFSessionRecord? {
    let codes = codes
    return try await write { database in
      guard let found = try database.uafSession(id, codes), found.isOver(at: end.time) else {
        return try database.uafSession(id, codes)
      }
      try database.end(found, end, .failed, codes)
      try database.appendAudit(audit)
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

  /// Counts an operation for its user, unless there are too many, or it is no request of its own; that is written down in it.
  fileprivate func admit(
    _ session: inout UAFSessionRecord, _ limits: TransactionLimits
  ) throws -> AdmissionOutcome {
    guard let user = session.user, try isOwnRequest(session, to: user) else {
      session.requester = nil
      return .added
    }
    session.requester = session.requester ?? ""
    return try admitRequest(to: user, by: session.requester, at: session.created, limits)
  }

  /// Whether an operation asks its user for something on a device, and nothing that was counted already.
  private func isOwnRequest(_ session: UAFSessionRecord, to user: String) throws -> Bool {
    guard let target = session.target, session.isGrant else { return false }
    guard let transaction = session.transaction else { return true }
    // One for anybody is counted for nobody. The same target once more is the user asked once more.
    let isCounted = try exists(
      """
      SELECT 1 FROM transactions WHERE id = $1 AND user_id = $2
        AND NOT EXISTS (SELECT 1 FROM uaf_sessions WHERE txn = $1 AND target = $3)
      """, [.text(transaction), .text(user), .text(target)])
    return !isCounted
  }

  /// Adds an operation, and tells a device that waits for it.
  func add(_ session: UAFSessionRecord, _ codes: RowCodes) throws {
    try insert(session, codes)
    try noteChange(ofWhatWaitsFor: session)
  }

  /// Tells a device that waits that its list of operations is another one.
  private func noteChange(ofWhatWaitsFor session: UAFSessionRecord) throws {
    if session.target != nil, let user = session.user { try noteChange(ofUser: user) }
  }

  /// Writes what changes of an operation, with the code of the whole.
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

  /// Ends an operation in the state that is given.
  func end(
    _ session: UAFSessionRecord, _ end: UAFSessionEnd, _ state: UAFSessionRecord.State, _ codes: RowCodes
  ) throws {
    var session = session
    (session.state, session.end) = (state, end)
    try update(session, codes)
  }

  /// Ends an operation with success; one that was a request of its own is an acceptance.
  func succeed(_ session: UAFSessionRecord, _ end: UAFSessionEnd, _ codes: RowCodes) throws {
    try self.end(session, end, .succeeded, codes)
    if session.requester != nil, let user = session.user { try endRow(of: user) }
  }

  /// Ends the operations of a user that are under way as failed.
  func failUAFSessions(of user: String, _ end: UAFSessionEnd, _ codes: RowCodes) throws {
    try failUAFSessions(where: "user_id = $1", [.text(user)], end, codes)
  }

  /// Ends what is under way for a user's keys on a device or for its targets, as failed; what removes keys goes on.
  ///
  /// A registration that was sent to no target may be one on the device. What authenticates by the keys is refused with these.
  func failUAFSessions(
    on device: String, of user: String, _ end: UAFSessionEnd, _ codes: RowCodes
  ) throws {
    try failUAFSessions(
      where: """
        user_id = $1 AND operation <> 'Dereg' AND ((operation = 'Reg' AND target IS NULL)
          OR target IN (SELECT id FROM uaf_targets WHERE user_id = $1 AND device = $2))
        """, [.text(user), .text(device)], end, codes)
  }

  /// Ends what a target was sent and has not answered, as failed; what removes keys goes on.
  func failUAFSessions(ofTarget target: String, _ end: UAFSessionEnd, _ codes: RowCodes) throws {
    try failUAFSessions(where: "target = $1 AND operation <> 'Dereg'", [.text(target)], end, codes)
  }

  /// Ends the registrations of a user that are under way, and may be on a device, as failed.
  func failUAFRegistrations(
    on device: String, of user: String, _ end: UAFSessionEnd, _ codes: RowCodes
  ) throws {
    try failUAFSessions(
      where: """
        user_id = $1 AND operation = 'Reg' AND (target IS NULL
          OR target IN (SELECT id FROM uaf_targets WHERE user_id = $1 AND device = $2))
        """, [.text(user), .text(device)], end, codes)
  }

  /// Ends the operations of a transaction that are under way as failed, because it has ended.
  func failUAFSessions(ofTransaction transaction: String, at time: Int64, _ codes: RowCodes) throws {
    try failUAFSessions(
      where: "txn = $1", [.text(transaction)],
      UAFSessionEnd(status: UAFOutcome.transactionOver.status, time: time), codes)
  }

  /// Ends operations that are under way as failed.
  ///
  /// A row that this server has not written so stays: nobody can answer it, and it must not keep anything from being locked.
  private func failUAFSessions(
    where condition: String, _ parameters: [SQLValue], _ end: UAFSessionEnd, _ codes: RowCodes
  ) throws {
    let open = try rows(
      """
      SELECT \(UAFSessionRecord.columns) FROM uaf_sessions
      WHERE state IN ('requested', 'tokenCreated') AND \(condition)
      """, parameters
    ) { row -> UAFSessionRecord? in
      do { return try UAFSessionRecord(row, codes) } catch StorageFailure.altered { return nil }
    }
    for case let session? in open { try self.end(session, end, .failed, codes) }
  }

  /// Ends an operation as failed, in the step that found out why.
  func fail(
    _ session: UAFSessionRecord, _ end: UAFSessionEnd, _ outcome: UAFOutcome, _ codes: RowCodes
  ) throws -> UAFOutcome {
    var failure = end
    (failure.status, failure.authenticators) = (outcome.status, "[]")
    try self.end(session, failure, .failed, codes)
    return outcome
  }

  /// The operation of this id, if its request is given out and can still be answered; `nil` for any other.
  func requestedUAFSession(_ id: String, at time: Int64, _ codes: RowCodes) throws -> UAFSessionRecord? {
    guard let found = try uafSession(id, codes), found.state == .requested, found.expires > time else {
      return nil
    }
    return found
  }
}

extension UAFSessionRecord {
  /// Whether it asks its user, who has to be active, for something, on a device of good standing: what takes keys away asks nothing, and is
  /// done of suspended and locked ones too.
  fileprivate var isGrant: Bool { operation != "Dereg" }
}
