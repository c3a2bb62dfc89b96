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
  public func revokeContainer(_ id: String, audit: AuditRecord) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute("UPDATE containers SET state = 'revoked' WHERE id = ?", .text(id))
      guard database.changes == 1 else { return false }
      try database.removeCredential(id)
      try database.noteChange(ofContainer: id)
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``Storage`` says.
  public func claimRequest(
    _ id: [UInt8], container: String, expires: Int64
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { try $0.claim(id, container: container, expires: expires) }
  }
}

extension Database {
  func insert(_ new: NewContainer) throws(SQLiteFailure) {
    let container = new.container
    try insert(new.credential)
    try execute(
      """
      INSERT INTO containers (id, user, activation, device, name, platform, keystore, session_key, encryption_key,
        signing_key, profile, created, state, simulated, renews, renewals, succession, renewal_wanted, ended,
        key_origin)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      .text(container.id), .text(container.user), .text(container.activation), .blob(container.device),
      .text(container.name), .text(container.platform), .text(container.keystore),
      .blob(container.sessionKey),
      .blob(container.encryptionKey), .blob(container.signingKey), .blob(container.profile),
      .integer(container.created), .text(container.state.rawValue),
      .int(container.isSimulated ? 1 : 0), .optional(container.renews),
      .int(container.renewals), .optional(container.succession), .int(container.isRenewalWanted ? 1 : 0),
      .optional(container.ended), .optional(container.keyOrigin))
    for key in container.publicKeys {
      try execute(
        "INSERT INTO container_keys (public_key, container) VALUES (?, ?)", .blob(key), .text(container.id))
    }
  }

  /// Whether one of the keys of a new container belongs to another one, in whatever state.
  ///
  /// - Parameters:
  ///   - new: The new container.
  ///   - origin: The column by which pending containers are found that it replaces, whose keys are free.
  ///   - id: What that column holds.
  /// - Returns: Whether one is taken.
  /// - Throws: `SQLiteFailure`.
  func hasTakenKey(_ new: NewContainer, replacing origin: String, _ id: String) throws(SQLiteFailure) -> Bool
  {
    for key in new.container.publicKeys {
      let taken = try query(
        """
        SELECT 1 FROM container_keys JOIN containers ON containers.id = container
        WHERE public_key = ?1 AND NOT (state = 'pending' AND coalesce(\(origin), '') = ?2)
        """, .blob(key), .text(id))
      if !taken.isEmpty { return true }
    }
    return false
  }
}

extension ContainerRecord {
  /// The public keys of all kinds, X9.63.
  fileprivate var publicKeys: [[UInt8]] { [sessionKey, encryptionKey, signingKey] }

  init(_ row: Row) throws(SQLiteFailure) {
    guard let state = State(rawValue: try row.text("state")) else {
      throw .unexpectedValue(column: "state", expected: "a known state", found: "another text")
    }
    self.init(
      id: try row.text("id"), user: try row.text("user"), activation: try row.text("activation"),
      device: try row.blob("device"), name: try row.text("name"), platform: try row.text("platform"),
      keystore: try row.text("keystore"), sessionKey: try row.blob("session_key"),
      encryptionKey: try row.blob("encryption_key"), signingKey: try row.blob("signing_key"),
      profile: try row.blob("profile"), created: try row.integer("created"), state: state)
    isSimulated = try row.integer("simulated") != 0
    renews = try row.optionalText("renews")
    renewals = Int(clamping: try row.integer("renewals"))
    succession = try row.optionalText("succession")
    isRenewalWanted = try row.integer("renewal_wanted") != 0
    ended = try row.optionalText("ended")
    keyOrigin = try row.optionalText("key_origin")
    (standing, reportWanted) = (
      try AccountStanding(row, "standing"), try row.integer("report_wanted")
    )
  }
}
