import SignetSQLite

extension SQLiteStorage {
  /// As ``UAFStorage`` says.
  public func uafCredentials(user: String) async throws(StorageFailure) -> [UAFCredentialRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM uaf_credentials WHERE user = ? ORDER BY number", .text(user))
        .map { try UAFCredentialRecord($0, codes) }
    }
  }

  /// As ``UAFStorage`` says.
  public func uafCredential(
    aaid: String, keyID: [UInt8]
  ) async throws(StorageFailure) -> UAFCredentialRecord? {
    try await reader.read { try $0.uafCredential(aaid, keyID, codes) }
  }

  /// As ``UAFStorage`` says.
  public func uafCredentials(limit: Int) async throws(StorageFailure) -> [UAFCredentialRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM uaf_credentials ORDER BY number LIMIT ?", .int(max(0, limit)))
        .map { try UAFCredentialRecord($0, codes) }
    }
  }

  /// As ``UAFStorage`` says.
  public func removeUAFCredentials(
    of user: String, _ selection: [UAFKeySelection],
    audit: @escaping @Sendable (String, [UInt8]) -> AuditRecord
  ) async throws(StorageFailure) -> Int {
    try await writer.write { try $0.removeUAFCredentials(of: user, selection, audit: audit) }
  }

  /// As ``UAFStorage`` says.
  public func releaseUAFCredential(
    aaid: String, keyID: [UInt8], audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await writer.write { database in
      guard var found = try database.uafCredential(aaid, keyID, codes), found.state == .quarantined else {
        return false
      }
      found.state = .active
      try database.update(found, codes)
      try database.appendAudit(audit)
      return true
    }
  }
}

extension Database {
  /// Removes keys of a user; how many there were.
  func removeUAFCredentials(
    of user: String, _ selection: [UAFKeySelection], audit: (String, [UInt8]) -> AuditRecord
  ) throws -> Int {
    var count = 0
    for selected in selection {
      let removed = try query(
        """
        DELETE FROM uaf_credentials WHERE user = ?1 AND (?2 IS NULL OR aaid = ?2)
          AND (?3 IS NULL OR (?2 IS NOT NULL AND key_id = ?3))
        RETURNING aaid, key_id
        """, .text(user), .optional(selected.aaid), .optional(selected.keyID))
      for row in removed { try appendAudit(audit(try row.text("aaid"), try row.blob("key_id"))) }
      count += removed.count
    }
    return count
  }

  func uafCredential(_ aaid: String, _ keyID: [UInt8], _ codes: RowCodes) throws -> UAFCredentialRecord? {
    try query("SELECT * FROM uaf_credentials WHERE aaid = ? AND key_id = ?", .text(aaid), .blob(keyID))
      .first.map { try UAFCredentialRecord($0, codes) }
  }

  func insert(_ credential: UAFCredentialRecord, _ codes: RowCodes) throws {
    try execute(
      """
      INSERT INTO uaf_credentials (aaid, key_id, user, public_key, algorithm, key_format, sign_counter,
        registration_counter, authenticator_version, created, state, device, code)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .text(credential.aaid), .blob(credential.keyID), .text(credential.user),
      .blob(credential.publicKey), .integer(Int64(credential.algorithm)),
      .integer(Int64(credential.keyFormat)), .integer(Int64(credential.signCounter)),
      .integer(Int64(credential.registrationCounter)), .integer(Int64(credential.authenticatorVersion)),
      .integer(credential.created), .text(credential.state.rawValue),
      .optional(credential.device), .optional(codes.code(of: credential.image)))
  }

  /// Writes what changes of a key, with the code of the whole.
  fileprivate func update(_ credential: UAFCredentialRecord, _ codes: RowCodes) throws {
    try execute(
      "UPDATE uaf_credentials SET sign_counter = ?, state = ?, code = ? WHERE aaid = ? AND key_id = ?",
      .integer(Int64(credential.signCounter)), .text(credential.state.rawValue),
      .optional(codes.code(of: credential.image)), .text(credential.aaid), .blob(credential.keyID))
  }

  /// Holds a use against the stored key: `nil` where the key may be used so, and the counter is stored then.
  func count(_ use: UAFKeyUse, of user: String, _ codes: RowCodes) throws -> UAFOutcome? {
    guard var found = try uafCredential(use.aaid, use.keyID, codes) else { return .keyUnknown }
    guard found.state != .altered else { return .altered(use) }
    guard found.user == user, found.state == .active else { return .keyUnknown }
    let isGreater = use.signCounter > found.signCounter
    guard isGreater || use.signCounter == 0 && found.signCounter == 0 else {
      found.state = .quarantined
      try update(found, codes)
      return .copied(use)
    }
    if isGreater {
      found.signCounter = use.signCounter
      try update(found, codes)
    }
    return nil
  }
}

extension UAFCredentialRecord {
  /// Reads a row; one that this server has not written so is ``State/altered``.
  fileprivate init(_ row: Row, _ codes: RowCodes) throws(SQLiteFailure) {
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
    if !codes.isOwn(image, try row.optionalBlob("code")) { self.state = .altered }
  }
}
