import SignetSQLite

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func container(_ id: String) async throws(StorageFailure) -> ContainerRecord? {
    try await reader.read { database in
      try database.query("SELECT * FROM containers WHERE id = ?", .text(id)).first.map {
        try ContainerRecord($0)
      }
    }
  }

  /// As ``Storage`` says.
  public func containers(user: String) async throws(StorageFailure) -> [ContainerRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM containers WHERE user = ? ORDER BY created, id", .text(user))
        .map { try ContainerRecord($0) }
    }
  }

  /// As ``Storage`` says.
  public func revokeContainer(_ id: String, audit: AuditEvent) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute("UPDATE containers SET state = 'revoked' WHERE id = ?", .text(id))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``Storage`` says.
  public func claimRequest(
    _ id: [UInt8], container: String, expires: Int64
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        "INSERT INTO requests (id, container, expires) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", .blob(id),
        .text(container), .integer(expires))
      return database.changes == 1
    }
  }

  /// As ``Storage`` says.
  public func submitCode(
    user: String, match: CodeMatch?, limit: Int, audit: @escaping @Sendable (CodeOutcome) -> AuditEvent
  ) async throws(StorageFailure) -> CodeOutcome {
    try await writer.write { database in
      let outcome = try database.submitCode(user: user, match: match, limit: limit)
      try database.appendAudit(audit(outcome))
      return outcome
    }
  }
}

extension Database {
  func insert(_ container: ContainerRecord) throws(SQLiteFailure) {
    try execute(
      """
      INSERT INTO containers (id, user, activation, device, name, platform, keystore, session_key, encryption_key,
        signing_key, sealed_otp_secret, profile, created, state, last_counter, simulated, renews, renewals, succession,
        renewal_wanted, ended, key_origin)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      .text(container.id), .text(container.user), .text(container.activation), .blob(container.device),
      .text(container.name), .text(container.platform), .text(container.keystore),
      .blob(container.sessionKey),
      .blob(container.encryptionKey), .blob(container.signingKey), .blob(container.sealedOTPSecret),
      .blob(container.profile), .integer(container.created), .text(container.state.rawValue),
      .optional(container.lastCounter), .int(container.isSimulated ? 1 : 0), .optional(container.renews),
      .int(container.renewals), .optional(container.succession), .int(container.isRenewalWanted ? 1 : 0),
      .optional(container.ended), .optional(container.keyOrigin))
  }

  fileprivate func submitCode(user: String, match: CodeMatch?, limit: Int) throws -> CodeOutcome {
    let failed = try query("SELECT failed_codes FROM users WHERE id = ?", .text(user)).first
    guard let failed else { return .wrong }
    guard try failed.integer("failed_codes") < limit else { return .locked }
    if let match {
      try execute(
        """
        UPDATE containers SET last_counter = ?1
        WHERE id = ?2 AND user = ?3 AND state = 'active' AND (last_counter IS NULL OR last_counter < ?1)
        """, .integer(match.counter), .text(match.container), .text(user))
      if changes == 1 {
        try execute("UPDATE users SET failed_codes = 0 WHERE id = ?", .text(user))
        return .accepted
      }
    }
    try execute("UPDATE users SET failed_codes = failed_codes + 1 WHERE id = ?", .text(user))
    return match == nil ? .wrong : .replayed
  }
}

extension ContainerRecord {
  init(_ row: Row) throws(SQLiteFailure) {
    guard let state = State(rawValue: try row.text("state")) else {
      throw .unexpectedValue(column: "state", expected: "a known state", found: "another text")
    }
    self.init(
      id: try row.text("id"), user: try row.text("user"), activation: try row.text("activation"),
      device: try row.blob("device"), name: try row.text("name"), platform: try row.text("platform"),
      keystore: try row.text("keystore"), sessionKey: try row.blob("session_key"),
      encryptionKey: try row.blob("encryption_key"), signingKey: try row.blob("signing_key"),
      sealedOTPSecret: try row.blob("sealed_otp_secret"), profile: try row.blob("profile"),
      created: try row.integer("created"), state: state, lastCounter: try row.optionalInteger("last_counter"))
    isSimulated = try row.integer("simulated") != 0
    renews = try row.optionalText("renews")
    renewals = Int(clamping: try row.integer("renewals"))
    succession = try row.optionalText("succession")
    isRenewalWanted = try row.integer("renewal_wanted") != 0
    ended = try row.optionalText("ended")
    keyOrigin = try row.optionalText("key_origin")
  }
}
