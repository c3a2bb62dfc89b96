import SignetSQL

extension Storage {
  /// Adds an operation in the state `tokenCreated` or `requested`.
  ///
  /// An operation that is sent to a device counts against the user's budget of requests. Exceptions are deregistrations, and
  /// an operation for a transaction that is counted already, if its target was not sent that transaction before. An
  /// operation for a transaction that has ended is not added.
  ///
  /// - Parameters:
  ///   - session: The operation.
  ///   - basis: The authentication of the UAF client that asks; `nil` for another caller.
  ///   - request: The transaction that the operation answers and that is stored with it; `nil` for none.
  ///   - limits: The budget of requests.
  ///   - audit: Makes the event; `nil` for none.
  /// - Returns: Whether the operation was added, or the reason why not.
  /// - Throws: ``StorageFailure/unknown`` for an unknown user; ``StorageFailure/exists`` for an id that exists;
  ///   ``StorageFailure/deviceLocked`` if the target's device is locked and the operation is no deregistration, or if
  ///   `basis` is on a locked device; ``StorageFailure/unauthorized`` if `basis` is no longer valid.
  package func addUAFOperation(
    _ session: UAFOperationRecord, by basis: UAFBasis? = nil, answering request: UAFOnlyTransaction? = nil,
    limits: TransactionLimits,
    audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord?
  ) async throws(StorageFailure) -> AdmissionOutcome {
    return try await write { database in
      if session.isGrant {
        if let user = session.user { try database.requireUsable(user: user) }
        try database.requireUsable(deviceOfTarget: session.target)
      }
      try database.requireUsable(basis: basis)
      if let request {
        let outcome = try database.add(request, limits)
        guard outcome == .added else { return outcome }
      }
      let outcome = try database.admit(session, answering: request?.transaction, limits)
      if let event = audit(outcome) { try database.appendAudit(event, as: outcome.entry(to: session.user)) }
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
  /// - Returns: `true` if the operation was added.
  /// - Throws: ``StorageFailure``.
  package func addUAFOperation(
    _ session: UAFOperationRecord, ofClientWithAtMost limit: Int
  ) async throws(StorageFailure) -> Bool {
    return try await write { database in
      let count = try database.number(
        "SELECT count(*) FROM uaf_sessions WHERE client = $1 AND state <> 'succeeded' AND created > $2",
        [.optional(session.client), .integer(session.recentAfter)])
      guard UAFOperationRecord.hasRoom(beside: count ?? 0, limit: limit) else { return false }
      try database.add(session)
      return true
    }
  }

  /// Returns the operation with this id; `nil` for none.
  package func uafOperation(_ id: ID<UAFOperationRecord>) async throws(StorageFailure) -> UAFOperationRecord?
  {
    try await read { try $0.uafOperation(id) }
  }

  /// Returns the operation whose token has this digest; `nil` for none.
  package func uafOperation(tokenDigest: [UInt8]) async throws(StorageFailure) -> UAFOperationRecord? {
    try await read { try $0.uafOperation(tokenDigest: tokenDigest) }
  }

  /// Returns the operations whose tokens a target can redeem, newest first, at most 64.
  package func pendingUAFOperations(
    target: ID<UAFTargetRecord>, at time: Int64
  ) async throws(StorageFailure) -> [UAFOperationRecord] {
    try await read {
      try $0.records(
        """
        WHERE target = $1 AND state = 'tokenCreated' AND token_expires > $2
        ORDER BY created DESC, id LIMIT 64
        """, [.of(target), .integer(time)])
    }
  }

  /// Redeems a token, at most once.
  ///
  /// - Parameters:
  ///   - digest: The digest of the token.
  ///   - request: The request that the client gets for it.
  ///   - time: The time of the call, in seconds since 1970.
  ///   - expires: When the request expires, in seconds since 1970.
  ///   - audit: The event, written if the token is redeemed.
  /// - Returns: `true` if this call redeemed the token; an expired token is not redeemed, nor one for a transaction that has ended.
  /// - Throws: ``StorageFailure``; ``StorageFailure/deviceLocked`` as ``addUAFOperation(_:by:answering:limits:audit:)`` does.
  package func redeemUAFToken(
    _ digest: [UInt8], request: [UInt8], at time: Int64, until expires: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    return try await write { database in
      guard let found = try database.uafOperation(tokenDigest: digest),
        let redeemed = found.redeemed(for: request, at: time, until: expires)
      else { return false }
      if let transaction = try found.transaction.flatMap({ try database.transaction($0) }),
        transaction.state(at: time) != .pending
      {
        try database.expire(transaction.id, at: time)
        return false
      }
      if found.isGrant {
        if let user = found.user { try database.requireUsable(owner: user) }
        // The target may have been removed while the token was sent.
        guard try database.requireUsable(deviceOfTarget: found.target) else { return false }
      }
      try database.update(redeemed)
      try database.appendAudit(audit)
      return true
    }
  }

  /// Ends an open operation as failed.
  ///
  /// - Returns: `true` if it was open.
  package func failUAFOperation(
    _ id: ID<UAFOperationRecord>, _ end: UAFOperationEnd, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    return try await write { database in
      guard let found = try database.uafOperation(id), found.isOpen else { return false }
      try database.fail(found, end, audit)
      return true
    }
  }

  /// Ends an expired operation as failed; an operation that was redeemed or answered in the meantime is unchanged.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - end: The status and the time of its end.
  ///   - audit: The event, written if this call ends the operation.
  /// - Returns: The operation after the step; `nil` for none.
  /// - Throws: ``StorageFailure``.
  package func expireUAFOperation(
    _ id: ID<UAFOperationRecord>, _ end: UAFOperationEnd, audit: AuditRecord
  ) async throws(StorageFailure) -> UAFOperationRecord? {
    return try await write { database in
      guard let found = try database.uafOperation(id) else { return nil }
      guard found.hasExpired(at: end.time) else { return found }
      try database.fail(found, end, audit)
      return found.ended(.failed, end)
    }
  }
}

extension SQLConnection {
  func uafOperation(_ id: ID<UAFOperationRecord>) throws -> UAFOperationRecord? {
    try record("WHERE id = $1", [.of(id)])
  }

  fileprivate func uafOperation(tokenDigest: [UInt8]) throws -> UAFOperationRecord? {
    try record("WHERE token_digest = $1", [.blob(tokenDigest)])
  }

  /// Adds an operation if it is admissible, and counts it if it counts.
  ///
  /// - Parameters:
  ///   - session: The operation.
  ///   - new: Its transaction, if this step has added that.
  ///   - limits: The budget of requests.
  /// - Returns: Whether it was added, or the reason why not.
  /// - Throws: ``StorageFailure``, ``SQLFailure``.
  fileprivate func admit(
    _ session: UAFOperationRecord, answering new: TransactionRecord?, _ limits: TransactionLimits
  ) throws -> AdmissionOutcome {
    let transaction = try new ?? session.transaction.flatMap { try self.transaction($0) }
    switch UAFOperationAdmission(of: session, answering: transaction, wasSent: try wasSent(session)) {
    case .transactionEnded(let change):
      if let transaction { try apply(change, to: transaction.id, at: session.created) }
      return .transactionEnded
    case .admissible(let session):
      if let user = session.user, let requester = session.requester {
        let outcome = try admitRequest(to: user, by: requester, at: session.created, limits)
        guard outcome == .added else { return outcome }
      }
      try add(session)
      return .added
    }
  }

  /// Returns `true` if the operation's target was sent its transaction before.
  private func wasSent(_ session: UAFOperationRecord) throws -> Bool {
    guard let transaction = session.transaction, let target = session.target else { return false }
    return try exists(
      "SELECT 1 FROM uaf_sessions WHERE txn = $1 AND target = $2 LIMIT 1",
      [.of(transaction), .of(target)])
  }

  /// Inserts an operation, and notifies the waiting devices of its user.
  func add(_ session: UAFOperationRecord) throws {
    try insert(session)
    try recordChange(ofWhatWaitsFor: session)
  }

  /// Notifies the waiting devices of the user that their list of operations has changed.
  private func recordChange(ofWhatWaitsFor session: UAFOperationRecord) throws {
    if session.target != nil, let user = session.user { try recordChange(ofUser: user) }
  }

  /// Writes the columns of an operation that can change, and the MAC of the row.
  func update(_ session: UAFOperationRecord) throws {
    try execute(
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
        .optional(session.end?.time), .optional(rowMAC.mac(of: session.image)), .of(session.id),
      ], changing: 1)
    try recordChange(ofWhatWaitsFor: session)
  }

  /// Adds the transaction of an operation, before the operation is added.
  fileprivate func add(_ request: UAFOnlyTransaction, _ limits: TransactionLimits) throws -> AdmissionOutcome
  {
    guard try isKeyValid(request.key) else { return .keyRevoked }
    var authenticatorRequests = AuthenticatorRequestRecords()
    authenticatorRequests.mayAskUAFKeys = true
    let outcome = try add(request.transaction, limits, authenticatorRequests)
    try appendAudit(request.audit(outcome), as: outcome.entry(to: request.transaction.user))
    return outcome
  }

  /// Ends an operation as failed and writes its event; also ends its transaction if no authenticator of the user can answer
  /// that any more.
  fileprivate func fail(
    _ session: UAFOperationRecord, _ end: UAFOperationEnd, _ audit: AuditRecord
  ) throws {
    try update(session.ended(.failed, end))
    try appendAudit(audit)
    if let user = session.answerer { try endUnanswerable(of: user, after: audit, at: end.time) }
  }

  /// Ends those open operations of a user as failed that an interruption of the user or of one of the user's devices ends.
  func failUAFOperations(
    of user: UserID, by interruption: UAFInterruption, at time: Int64
  ) throws {
    try failUAFOperations(where: "user_id = $1", [.of(user)], .forbidden(at: time)) {
      $0.ends(by: interruption)
    }
  }

  /// Ends the open operations of a removed target as failed, except deregistrations.
  func failUAFOperations(ofTarget target: ID<UAFTargetRecord>, at time: Int64) throws {
    try failUAFOperations(where: "target = $1", [.of(target)], .forbidden(at: time)) {
      $0.ends(by: .removal(target: target))
    }
  }

  /// Returns the targets of a user on a device.
  func uafTargets(on device: String, of user: UserID) throws -> Set<ID<UAFTargetRecord>> {
    Set(
      try rows("SELECT id FROM uaf_targets WHERE device = $1 AND user_id = $2", [.text(device), .of(user)]) {
        try $0.id(0)
      })
  }

  /// Ends the open operations of a transaction as failed, because the transaction has ended.
  func failUAFOperations(ofTransaction transaction: TransactionID, at time: Int64) throws {
    try failUAFOperations(
      where: "txn = $1", [.of(transaction)],
      UAFOperationEnd(status: UAFOutcome.transactionEnded.status, time: time))
  }

  /// Ends open operations as failed.
  private func failUAFOperations(
    where condition: String, _ parameters: [SQLValue], _ end: UAFOperationEnd,
    _ ends: (UAFOperationRecord) -> Bool = { _ in true }
  ) throws {
    for session in try openUAFOperations(where: condition, parameters) where ends(session) {
      try update(session.ended(.failed, end))
    }
  }

  /// Returns open operations.
  ///
  /// A row whose MAC does not verify is left out. The server accepts no response to it, and it must not block the lock of a device.
  func openUAFOperations(
    where condition: String, _ parameters: [SQLValue]
  ) throws -> [UAFOperationRecord] {
    try intactRecords("WHERE \(UAFOperationRecord.isOpenCondition) AND \(condition)", parameters)
  }
}
