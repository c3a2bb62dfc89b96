import SignetSQL

/// The storage of UAF keys, operations and targets.
struct UAFTable: DeviceBoundTable, AnsweringTable {
  let kind = AuthenticatorRecord.Kind.uaf
  // Keys that are registered or removed together have one event, whose subject is the operation.
  let ownerQuery = "SELECT user_id FROM uaf_sessions WHERE id = $1 AND user_id IS NOT NULL"
  let messageTable: MessageTable? = MessageTable(
    name: "uaf_sessions", openCondition: UAFOperationRecord.isOpenCondition)

  var tables: [SQLTable] {
    [
      SQLTable(
        "uaf_credentials",
        [
          .number("number"), .text("aaid"), .blob("key_id"), .text("user_id").references("users", "id"),
          .blob("public_key"), .integer("algorithm"), .integer("key_format"), .integer("sign_counter"),
          .integer("registration_counter"), .integer("authenticator_version"), .integer("created"),
          .text("state"), .text("device").optional, .text("model_proof"), .integer("key_protection"),
          .integer("last_used").optional, .blob("code").optional,
        ],
        constraints: ["UNIQUE (aaid, key_id)"],
        indexes: [SQLIndex("uaf_credentials_of_user", "user_id, number")]),
      SQLTable(
        "uaf_sessions",
        [
          .text("id").primaryKey, .text("operation"), .text("user_id").optional.references("users", "id"),
          .text("context").optional, .text("txn").optional.references("transactions", "id"),
          .blob("request").optional, .blob("token_digest").optional, .integer("token_expires").optional,
          .integer("created"), .integer("expires"), .text("dispatcher").optional, .text("target").optional,
          .blob("sealed_payload").optional, .text("state"), .integer("status").optional,
          .integer("asm_status").optional, .integer("client_error").optional,
          .text("authenticators").optional,
          .integer("ended").optional, .blob("client").optional, .text("requester").optional,
          .blob("code").optional,
        ],
        indexes: [
          SQLIndex("uaf_sessions_by_token", "token_digest", unique: true, where: "token_digest IS NOT NULL"),
          SQLIndex("uaf_sessions_by_creation", "created"),
          SQLIndex("uaf_sessions_of_transaction", "txn", where: "txn IS NOT NULL"),
          SQLIndex(
            "unanswered_uaf_sessions", "expires", where: "state = 'requested' AND token_digest IS NULL"),
          SQLIndex("uaf_sessions_of_target", "target, created", where: "state = 'tokenCreated'"),
          SQLIndex(
            "asking_uaf_sessions", "user_id",
            where: "requester IS NOT NULL AND state IN ('requested', 'tokenCreated')"),
          SQLIndex(
            "uaf_sessions_of_client", "client, created", where: "client IS NOT NULL AND state <> 'succeeded'"),
        ]),
      SQLTable(
        "uaf_targets",
        [
          .text("id").primaryKey, .text("user_id").references("users", "id"), .text("device").optional,
          .text("name"), .text("dispatcher").optional, .blob("sealed_target").optional,
          .blob("signature_key"),
          .blob("encryption_key").optional, .integer("created"), .blob("code").optional,
        ],
        constraints: ["UNIQUE (user_id, name)"],
        indexes: [SQLIndex("uaf_targets_of_device", "device", where: "device IS NOT NULL")]),
    ]
  }

  func authenticators(
    of account: AccountSnapshot, in database: SQLConnection
  ) throws -> [AuthenticatorRecord] {
    try database.uafCredentials(of: account.user).map { key in
      let device = account.device(called: key.device)
      var (state, reason): (AuthenticatorRecord.State, String) =
        switch key.state {
        case .active: (.active, "")
        case .quarantined: (.suspended, "the key may have been copied")
        case .revoked: (.revoked, "")
        case .altered: (.altered, AuditEvent.alteredReason)
        }
      if state == .active, device?.isAltered == true {
        (state, reason) = (.suspended, "the row of its device was not written by this server")
      } else if state == .active, device?.compliance == .locked {
        (state, reason) = (.suspended, "the device is locked")
      }
      return AuthenticatorRecord(
        id: key.authenticator, of: .key(key), device: device?.id, name: key.aaid,
        state: state, reason: reason, created: key.created, lastUsed: key.lastUsed)
    }
  }

  func endAtSuspension(of user: UserID, at time: Int64, in database: SQLConnection) throws {
    try database.failUAFOperations(of: user, by: .suspension, at: time)
  }

  func remove(of user: UserRecord, in database: SQLConnection) throws {
    for table in ["uaf_targets", "uaf_credentials", "uaf_sessions"] {
      _ = try database.execute("DELETE FROM \(table) WHERE user_id = $1", [.of(user.id)])
    }
    _ = try database.execute(
      "DELETE FROM uaf_sessions WHERE txn IN (SELECT id FROM transactions WHERE user_id = $1)",
      [.of(user.id)])
  }

  func sweep(at time: Int64, in database: SQLConnection) throws {
    // An unauthenticated caller may begin one, so unanswered ones are removed soon. The others can be queried for a day.
    _ = try database.execute(
      """
      DELETE FROM uaf_sessions WHERE (state = 'requested' AND token_digest IS NULL
          OR state = 'failed' AND client IS NOT NULL) AND expires <= $1
      """, [.integer(time - 600)])
    _ = try database.execute(
      "DELETE FROM uaf_sessions WHERE created < $1 AND expires <= $2 AND coalesce(ended, created) < $1",
      [.integer(time - 86_400), .integer(time)])
  }

  // MARK: On devices

  func isBound(to installation: String, of user: UserID, in database: SQLConnection) throws -> Bool {
    try ["uaf_credentials", "uaf_targets"].contains { table in
      try database.exists(
        "SELECT 1 FROM \(table) WHERE user_id = $1 AND device = $2 LIMIT 1",
        [.of(user), .text(installation)])
    }
  }

  func installations(of user: UserID, in database: SQLConnection) throws -> [String] {
    try database.rows(
      """
      SELECT device FROM uaf_credentials WHERE user_id = $1 AND device IS NOT NULL
      UNION SELECT device FROM uaf_targets WHERE user_id = $1 AND device IS NOT NULL
      """, [.of(user)]
    ) { try $0.text(0) }
  }

  /// Ends registrations: the keys that they would add may be on the locked device without naming it.
  func endAtLock(of device: DeviceRecord, at time: Int64, in database: SQLConnection) throws {
    let targets = try database.uafTargets(on: device.installation, of: device.user)
    try database.failUAFOperations(of: device.user, by: .lock(targets: targets), at: time)
  }

  /// Revokes the keys, removes the targets, and ends the pending operations of both.
  ///
  /// The rows of keys are kept, so that the keys cannot be registered again.
  func revoke(
    on installation: String, of user: UserID, at time: Int64, in database: SQLConnection,
    _ lost: (DeviceLoss) -> AuditRecord
  ) throws {
    let mac = try database.rowMAC
    // First, because the operations are found by the targets that are removed below.
    let operationTargets = try database.uafTargets(on: installation, of: user)
    try database.failUAFOperations(of: user, by: .revocation(targets: operationTargets), at: time)
    for key in try database.revokeUAFCredentials(on: installation, of: user) {
      try database.appendAudit(lost(.key(user: user, aaid: key.aaid, keyID: key.keyID)))
    }
    let device = try database.deviceID(installation, of: user)
    let targets = try database.rows(
      "DELETE FROM uaf_targets WHERE user_id = $1 AND device = $2 RETURNING \(UAFTargetRecord.columns)",
      [.of(user), .text(installation)]
    ) { row -> (id: ID<UAFTargetRecord>, device: ID<DeviceRecord>?) in
      // An altered row does not prove its device.
      do { return (try UAFTargetRecord(row, mac).id, device) } catch StorageFailure.altered {
        return (try row.id(0), nil)
      }
    }
    for target in targets { try database.appendAudit(lost(.target(target.id)), on: target.device) }
  }

  // MARK: Requests

  func canAnswer(
    _ request: TransactionRecord, of user: UserID, _ authenticatorRequests: AuthenticatorRequestRecords?,
    at time: Int64,
    in database: SQLConnection
  ) throws -> Bool {
    let rules = try database.answerRules
    let channels =
      try authenticatorRequests.map(UAFRequestChannels.init) ?? channels(of: request, at: time, database)
    guard channels.mayRequesterAsk || !channels.targets.isEmpty else { return false }
    let keys = try database.uafCredentials(of: user).filter { key in
      try key.state == .active && !database.isLocked(key.device, of: user)
    }
    let answering = UAFAnswering(request, by: keys, mayRequesterAsk: channels.mayRequesterAsk, rules)
    return try answering.isAnsweredByRequester
      || answering.isAbleAtTargets
        && channels.targets.contains {
          try database.reachableTarget($0, of: user).map(answering.canAnswer(at:)) ?? false
        }
  }

  private func channels(
    of request: TransactionRecord, at time: Int64, _ database: SQLConnection
  ) throws -> UAFRequestChannels {
    let id: [SQLValue] = [.of(request.id)]
    return UAFRequestChannels(
      of: request, try database.openUAFOperations(where: "txn = $1", id),
      isClients: try database.exists("SELECT 1 FROM backchannel_requests WHERE txn = $1", id), at: time)
  }

  /// Adds the operations whose targets still exist and are not on a locked device.
  func add(_ authenticatorRequests: AuthenticatorRequestRecords, in database: SQLConnection) throws {
    for (session, audit) in authenticatorRequests.sessions {
      guard let user = session.user,
        try database.reachableTarget(session.target, of: user) != nil
      else { continue }
      try database.add(session)
      try database.appendAudit(audit)
    }
  }

  func endMessages(of request: TransactionID, at time: Int64, in database: SQLConnection) throws {
    try database.failUAFOperations(ofTransaction: request, at: time)
  }

  func isProofInUse(
    _ request: TransactionRecord, of user: UserID, in database: SQLConnection
  ) throws -> Bool? {
    guard let acceptance = request.uaf else { return nil }
    guard let session = try database.uafOperation(acceptance.session) else { return false }
    return try database.areKeysInUse(of: session, by: user)
  }
}
