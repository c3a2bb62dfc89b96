import SignetSQLite

extension SQLiteStorage {
  /// As ``UAFStorage`` says.
  public func uafCredentials(user: String) async throws(StorageFailure) -> [UAFCredentialRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM uaf_credentials WHERE user = ? ORDER BY number", .text(user))
        .map { try UAFCredentialRecord($0) }
    }
  }

  /// As ``UAFStorage`` says.
  public func uafCredential(
    aaid: String, keyID: [UInt8]
  ) async throws(StorageFailure) -> UAFCredentialRecord? {
    try await reader.read { try $0.uafCredential(aaid, keyID) }
  }

  /// As ``UAFStorage`` says.
  public func uafCredentials(limit: Int) async throws(StorageFailure) -> [UAFCredentialRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM uaf_credentials ORDER BY number LIMIT ?", .int(max(0, limit)))
        .map { try UAFCredentialRecord($0) }
    }
  }

  /// As ``UAFStorage`` says.
  public func removeUAFCredentials(
    of user: String, _ selection: [UAFKeySelection],
    audit: @escaping @Sendable (String, [UInt8]) -> AuditEvent
  ) async throws(StorageFailure) -> Int {
    try await writer.write { database in
      var count = 0
      for selected in selection {
        let removed = try database.query(
          """
          DELETE FROM uaf_credentials WHERE user = ?1 AND (?2 IS NULL OR aaid = ?2)
            AND (?3 IS NULL OR (?2 IS NOT NULL AND key_id = ?3))
          RETURNING aaid, key_id
          """, .text(user), .optional(selected.aaid), .optional(selected.keyID))
        for row in removed { try database.appendAudit(audit(try row.text("aaid"), try row.blob("key_id"))) }
        count += removed.count
      }
      return count
    }
  }

  /// As ``UAFStorage`` says.
  public func releaseUAFCredential(
    aaid: String, keyID: [UInt8], audit: AuditEvent
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        "UPDATE uaf_credentials SET state = 'active' WHERE aaid = ? AND key_id = ? AND state = 'quarantined'",
        .text(aaid), .blob(keyID))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }
}

extension Database {
  func uafCredential(_ aaid: String, _ keyID: [UInt8]) throws -> UAFCredentialRecord? {
    try query("SELECT * FROM uaf_credentials WHERE aaid = ? AND key_id = ?", .text(aaid), .blob(keyID))
      .first.map { try UAFCredentialRecord($0) }
  }

  func insert(_ credential: UAFCredentialRecord) throws {
    try execute(
      """
      INSERT INTO uaf_credentials (aaid, key_id, user, public_key, algorithm, key_format, sign_counter,
        registration_counter, authenticator_version, created, state, device)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .text(credential.aaid), .blob(credential.keyID), .text(credential.user),
      .blob(credential.publicKey), .integer(Int64(credential.algorithm)),
      .integer(Int64(credential.keyFormat)), .integer(Int64(credential.signCounter)),
      .integer(Int64(credential.registrationCounter)), .integer(Int64(credential.authenticatorVersion)),
      .integer(credential.created), .text(credential.state.rawValue),
      .optional(credential.device))
  }

  /// Holds a use against the stored key: `nil` where the key may be used so, and the counter is stored then.
  func count(_ use: UAFKeyUse, of user: String) throws -> UAFOutcome? {
    guard let found = try uafCredential(use.aaid, use.keyID), found.user == user, found.state == .active
    else {
      return .keyUnknown
    }
    let isGreater = use.signCounter > found.signCounter
    guard isGreater || use.signCounter == 0 && found.signCounter == 0 else {
      try execute(
        "UPDATE uaf_credentials SET state = 'quarantined' WHERE aaid = ? AND key_id = ?", .text(use.aaid),
        .blob(use.keyID))
      return .copied(use)
    }
    if isGreater {
      try execute(
        "UPDATE uaf_credentials SET sign_counter = ? WHERE aaid = ? AND key_id = ?",
        .integer(Int64(use.signCounter)), .text(use.aaid), .blob(use.keyID))
    }
    return nil
  }
}

extension UAFCredentialRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    guard let state = State(rawValue: try row.text("state")) else {
      throw .unexpectedValue(column: "state", expected: "a known state", found: "another text")
    }
    self.init(
      aaid: try row.text("aaid"), keyID: try row.blob("key_id"), user: try row.text("user"),
      publicKey: try row.blob("public_key"), algorithm: UInt16(clamping: try row.integer("algorithm")),
      keyFormat: UInt16(clamping: try row.integer("key_format")),
      signCounter: UInt32(clamping: try row.integer("sign_counter")),
      registrationCounter: UInt32(clamping: try row.integer("registration_counter")),
      authenticatorVersion: UInt16(clamping: try row.integer("authenticator_version")),
      created: try row.integer("created"))
    self.state = state
    device = try row.optionalText("device")
  }
}
