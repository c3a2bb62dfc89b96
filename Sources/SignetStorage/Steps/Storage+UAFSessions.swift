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

  /// Ends a registration, whose response holds: adds its keys.
  ///
  /// An operation is taken once, before its time is over. A key that is registered already, of whomever, is not taken, and the
  /// operation has failed then; nor is one whose public key is another authenticator's, of whatever kind and state. One that was removed
  /// may be registered again for the same user.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - end: How it ends.
  ///   - credentials: The new keys, all of one user and on one device.
  ///   - limit: How many keys a user may have.
  ///   - audit: Makes the event.
  ///   - judge: Why the keys are not taken, by what is demanded at that moment; `nil` where they are.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  public func finishUAFRegistration(
    _ id: String, _ end: UAFSessionEnd, adding credentials: [NewUAFCredential], limit: Int,
    audit: @escaping @Sendable (UAFOutcome) -> AuditRecord,
    judge: @escaping @Sendable () -> UAFOutcome? = { nil }
  ) async throws(StorageFailure) -> UAFOutcome {
    let codes = codes
    return try await write { database in
      let first = credentials.first?.credential
      if let first {
        try database.requireActive(known: first.user)
        try database.requireUnlocked(first.device, of: first.user, codes)
      }
      let outcome = try database.finishRegistration(id, end, credentials, limit, codes, judge)
      var device: DeviceRecord?
      if outcome == .taken, let first, let installation = first.device {
        let new = DeviceRecord(of: first.user, installation, at: first.created, codes)
        try database.bind(new, codes)
        device = new
      }
      try database.appendAudit(audit(outcome), on: device?.id)
      return outcome
    }
  }

  /// Ends a deregistration, whose request is given out: removes its keys, in the same step.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - user: Whose keys go, and whose operation it has to be.
  ///   - end: How it ends.
  ///   - selection: Which keys go; each may name many, or none that there is.
  ///   - basis: What the user is known by, who takes nothing away elsewhere while that is on a locked device; `nil` where others ask.
  ///   - audit: The event of its end.
  ///   - removed: Makes the event of each key that went, of its model and its name.
  /// - Returns: ``UAFOutcome/taken``, or ``UAFOutcome/over``, where nothing is removed.
  /// - Throws: ``StorageFailure``; ``StorageFailure/deviceLocked`` and ``StorageFailure/unauthorized`` by `basis`.
  public func finishUAFDeregistration(
    _ id: String, of user: String, _ end: UAFSessionEnd, removing selection: [UAFKeySelection],
    by basis: UAFBasis? = nil, audit: AuditRecord,
    removed: @escaping @Sendable (String, [UInt8]) -> AuditRecord
  ) async throws(StorageFailure) -> UAFOutcome {
    let codes = codes
    return try await write { database in
      guard let session = try database.openSession(id, at: end.time, codes), session.user == user else {
        return .over
      }
      try database.confine(basis, codes) { devices in
        try selection.allSatisfy { selected in
          guard let aaid = selected.aaid, let keyID = selected.keyID else { return false }
          let key = try database.uafCredential(aaid, keyID, codes)
          return key?.device.map(devices.contains) ?? (key == nil)
        }
      }
      _ = try database.removeUAFCredentials(of: user, selection, audit: removed)
      try database.end(session, end, .succeeded, codes)
      try database.appendAudit(audit)
      return .taken
    }
  }

  /// Ends an authentication, whose signatures hold: judges the counters, stores them, and decides the transaction.
  ///
  /// An operation is taken once, before its time is over. A counter has to be 0 while the stored one is 0, or be greater than the
  /// stored one; else the key is in quarantine from now on, and the operation has failed.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - user: Whose keys they are.
  ///   - end: How it ends.
  ///   - uses: The keys with their counters.
  ///   - evidence: What is kept of the response with the transaction that it decides; `nil` where it decides none.
  ///   - audit: Makes the event.
  ///   - judge: Why the answer is not taken, by the keys, all of which are the user's and in use, and by the transaction that goes with the
  ///     operation, as both are in this step; `nil` where it is. It may be called again where the step has to be repeated.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  public func finishUAFAuthentication(
    _ id: String, of user: String, _ end: UAFSessionEnd, uses: [UAFKeyUse], evidence: EvidenceRecord? = nil,
    audit: @escaping @Sendable (UAFOutcome) -> AuditRecord,
    judge: @escaping @Sendable ([UAFCredentialRecord], TransactionRecord?) -> UAFOutcome? = { _, _ in nil }
  ) async throws(StorageFailure) -> UAFOutcome {
    let codes = codes
    return try await write { database in
      try database.requireActive(known: user)
      var device: String?
      for use in uses {
        // One that is nobody's, somebody else's or not ours is refused below.
        guard let key = try database.uafCredential(use.aaid, use.keyID, codes), key.user == user,
          key.state != .altered
        else { continue }
        try database.requireUnlocked(key.device, of: user, codes)
        device = try device ?? database.deviceID(of: key)
      }
      let outcome = try database.finishAuthentication(id, user, end, uses, evidence, codes, judge)
      let event = audit(outcome)
      try database.appendAudit(event, on: device)
      // A key that there are two of is out of use, also where another one is what was refused first.
      let isSuspended =
        try outcome != .taken
        && uses.contains { try database.uafCredential($0.aaid, $0.keyID, codes)?.state == .quarantined }
      if isSuspended { try database.endUnanswerable(of: user, after: event, at: end.time) }
      return outcome
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

  fileprivate func end(
    _ session: UAFSessionRecord, _ end: UAFSessionEnd, _ state: UAFSessionRecord.State, _ codes: RowCodes
  ) throws {
    var session = session
    (session.state, session.end) = (state, end)
    try update(session, codes)
  }

  /// Ends an operation with success; one that was a request of its own is an acceptance.
  private func succeed(_ session: UAFSessionRecord, _ end: UAFSessionEnd, _ codes: RowCodes) throws {
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
    _ id: String, _ end: UAFSessionEnd, _ credentials: [NewUAFCredential], _ limit: Int, _ codes: RowCodes,
    _ judge: () -> UAFOutcome?
  ) throws -> UAFOutcome {
    guard let session = try openSession(id, at: end.time, codes) else { return .over }
    if let refusal = judge() { return try fail(session, end, refusal, codes) }
    let isTaken = try credentials.contains {
      try uafCredential($0.credential.aaid, $0.credential.keyID, codes) != nil
        || self.isTaken($0.digest, for: KeyHolder($0.credential))
    }
    guard !isTaken, Set(credentials.map(\.digest)).count == credentials.count else {
      return try fail(session, end, .keyExists, codes)
    }
    if let user = credentials.first?.credential.user {
      let present = try number(
        "SELECT count(*) FROM uaf_credentials WHERE user_id = $1 AND state <> 'revoked'", [.text(user)])
      guard Int(clamping: present ?? 0) + credentials.count <= limit else {
        return try fail(session, end, .tooMany, codes)
      }
    }
    for new in credentials {
      try insert(new.credential, codes)
      try register(new.digest, for: KeyHolder(new.credential))
    }
    try succeed(session, end, codes)
    return .taken
  }

  fileprivate func finishAuthentication(
    _ id: String, _ user: String, _ end: UAFSessionEnd, _ uses: [UAFKeyUse], _ evidence: EvidenceRecord?,
    _ codes: RowCodes,
    _ judge: ([UAFCredentialRecord], TransactionRecord?) -> UAFOutcome?
  ) throws -> UAFOutcome {
    guard var session = try openSession(id, at: end.time, codes), session.user == nil || session.user == user
    else { return try uafSession(id, codes)?.hasEndedWithTransaction == true ? .transactionOver : .over }
    var pending: TransactionRecord?
    if let name = session.transaction {
      let named = try transaction(name)
      if let named, named.state(at: end.time) == .expired { try expire(named.id, at: end.time) }
      guard let transaction = named, transaction.state(at: end.time) == .pending,
        transaction.user == nil || transaction.user == user
      else { return try fail(session, end, .transactionOver, codes) }
      pending = transaction
    }
    let keys = try uses.compactMap { try uafCredential($0.aaid, $0.keyID, codes) }
      .filter { $0.user == user && $0.state == .active }
    // One that is not in use is refused where it is counted.
    if keys.count == uses.count, let refusal = judge(keys, pending) {
      return try fail(session, end, refusal, codes)
    }
    // One key that is refused refuses them all; what the others have proved counts all the same.
    var firstRefusal: UAFOutcome?
    for use in uses {
      guard let refusal = try count(use, of: user, codes) else { continue }
      firstRefusal = firstRefusal ?? refusal
    }
    if let firstRefusal { return try fail(session, end, firstRefusal, codes) }
    // Before the transaction ends, and with it all operations of it that are under way.
    session.user = user
    try succeed(session, end, codes)
    if var pending {
      (pending.user, pending.state) = (user, .accepted)
      (pending.uaf, pending.evidence) = (UAFAcceptance(session: id, time: end.time), evidence)
      try execute(
        """
        UPDATE transactions SET state = 'accepted', uaf_session = $1, decided = $2, user_id = $3, code = $4,
          evidence = $6, evidence_key = $7
        WHERE id = $5 AND state = 'pending'
        """,
        [
          .text(id), .integer(end.time), .text(user),
          .optional(codes.code(of: pending.image)), .text(pending.id), .optional(evidence?.bytes),
          .optional(evidence?.sealedKey),
        ], changing: 1)
      try noteEnd(of: pending.id, user: user, at: end.time)
      try endRow(of: user)
    }
    return .taken
  }
}

extension UAFSessionRecord {
  /// Whether it asks its user, who has to be active, for something, on a device of good standing: what takes keys away asks nothing, and is
  /// done of suspended and locked ones too.
  fileprivate var isGrant: Bool { operation != "Dereg" }
}
