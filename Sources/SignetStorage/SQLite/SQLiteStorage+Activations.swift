import SignetSQLite

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func addActivation(_ activation: ActivationRecord, audit: AuditRecord) async throws(StorageFailure) {
    try await writer.write { database in
      try database.execute(
        "UPDATE activations SET state = 'replaced' WHERE user = ? AND state = 'open'", .text(activation.user))
      try database.execute(
        """
        INSERT INTO activations (id, user, sealed_invite_key, salt, memory, passes, lanes, profile, created, expires,
          failed_attempts, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        .text(activation.id), .text(activation.user), .blob(activation.sealedInviteKey),
        .blob(activation.salt),
        .int(activation.memoryKiB), .int(activation.passes), .int(activation.lanes),
        .blob(activation.profile),
        .integer(activation.created), .integer(activation.expires), .int(activation.failedAttempts),
        .text(activation.state.rawValue))
      try database.appendAudit(audit)
    }
  }

  /// As ``Storage`` says.
  public func openActivation(user: String) async throws(StorageFailure) -> ActivationRecord? {
    try await reader.read { database in
      try database.query("SELECT * FROM activations WHERE user = ? AND state = 'open'", .text(user)).first
        .map { try ActivationRecord($0) }
    }
  }

  /// As ``Storage`` says.
  public func finishActivation(
    _ id: String, container: NewContainer?, limit: Int, at time: Int64,
    audit: @escaping @Sendable (ActivationOutcome) -> AuditRecord?
  ) async throws(StorageFailure) -> ActivationOutcome {
    try await writer.write { database in
      let outcome = try database.finishActivation(id, container: container, limit: limit, at: time)
      if let event = audit(outcome) { try database.appendAudit(event) }
      return outcome
    }
  }

  /// As ``Storage`` says.
  public func confirmContainer(
    _ id: String, at time: Int64, audit: @escaping @Sendable (ConfirmationOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> ConfirmationOutcome {
    try await writer.write { database in
      let outcome = try database.confirmContainer(id)
      // A repeated confirmation changes nothing and is no event.
      if outcome != .alreadyActive { try database.appendAudit(audit(outcome)) }
      return outcome
    }
  }
}

extension Database {
  fileprivate func finishActivation(
    _ id: String, container: NewContainer?, limit: Int, at time: Int64
  ) throws -> ActivationOutcome {
    guard let container else {
      let counted = try query(
        """
        UPDATE activations SET failed_attempts = failed_attempts + 1
        WHERE id = ? AND state = 'open' AND expires > ? AND failed_attempts < ? RETURNING failed_attempts
        """, .text(id), .integer(time), .int(limit))
      guard let row = counted.first else { return .closed }
      return .wrongProof(remaining: max(0, limit - Int(clamping: try row.integer("failed_attempts"))))
    }
    let isOpen = try query(
      "SELECT 1 FROM activations WHERE id = ? AND state = 'open' AND expires > ? AND failed_attempts < ?",
      .text(id), .integer(time), .int(limit))
    guard !isOpen.isEmpty else { return .closed }
    guard try !hasTakenKey(container, replacing: "activation", id) else { return .keyTaken }
    try removePending("activation", id)
    try insert(container)
    return .staged
  }

  fileprivate func confirmContainer(_ id: String) throws -> ConfirmationOutcome {
    guard let row = try query("SELECT * FROM containers WHERE id = ?", .text(id)).first else { return .gone }
    let container = try ContainerRecord(row)
    if container.state == .active { return .alreadyActive }
    guard container.state == .pending else { return .gone }
    if let renewed = container.renews {
      // A renewal goes on from a container in use; one that ended meanwhile has no successor.
      let isActive = try query("SELECT 1 FROM containers WHERE id = ? AND state = 'active'", .text(renewed))
      guard !isActive.isEmpty else { return .gone }
    } else {
      try execute(
        "UPDATE activations SET state = 'used' WHERE id = ? AND state = 'open'", .text(container.activation))
      guard changes == 1 else { return .gone }
    }
    let earlier = try query(
      "UPDATE containers SET state = 'revoked' WHERE user = ? AND device = ? AND state = 'active' RETURNING id",
      .text(container.user), .blob(container.device))
    for row in earlier { try removeCredential(row.text("id")) }
    try execute("UPDATE containers SET state = 'active' WHERE id = ?", .text(id))
    try execute("UPDATE credentials SET state = 'active' WHERE id = ?", .text(id))
    if let renewed = container.renews {
      try execute("UPDATE push_targets SET container = ? WHERE container = ?", .text(id), .text(renewed))
      try carryAccountState(from: renewed, to: id)
    }
    return .activated
  }
}

extension ActivationRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    guard let state = State(rawValue: try row.text("state")) else {
      throw .unexpectedValue(column: "state", expected: "a known state", found: "another text")
    }
    self.init(
      id: try row.text("id"), user: try row.text("user"), sealedInviteKey: try row.blob("sealed_invite_key"),
      salt: try row.blob("salt"), memoryKiB: Int(clamping: try row.integer("memory")),
      passes: Int(clamping: try row.integer("passes")), lanes: Int(clamping: try row.integer("lanes")),
      profile: try row.blob("profile"), created: try row.integer("created"),
      expires: try row.integer("expires"),
      failedAttempts: Int(clamping: try row.integer("failed_attempts")), state: state)
  }
}
