import SignetSQLite

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func addAPIKey(_ key: APIKeyRecord, audit: AuditRecord) async throws(StorageFailure) {
    try await writer.write { database in
      try database.execute(
        "INSERT INTO api_keys (id, name, scopes, secret_digest, created, revoked, display_name) VALUES (?, ?, ?, ?, ?, ?, ?)",
        .text(key.id), .text(key.name), .text(key.scopes.joined(separator: " ")), .blob(key.secretDigest),
        .integer(key.created), .optional(key.revoked), .optional(key.displayName))
      try database.appendAudit(audit)
    }
  }

  /// As ``Storage`` says.
  public func apiKey(_ id: String) async throws(StorageFailure) -> APIKeyRecord? {
    try await reader.read { database in
      try database.query("SELECT * FROM api_keys WHERE id = ?", .text(id)).first.map { try APIKeyRecord($0) }
    }
  }

  /// As ``Storage`` says.
  public func apiKeys() async throws(StorageFailure) -> [APIKeyRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM api_keys ORDER BY created, id").map { try APIKeyRecord($0) }
    }
  }

  /// As ``Storage`` says.
  public func revokeAPIKey(
    _ id: String, keepingOneOf scope: String, at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> RevocationOutcome {
    try await writer.write { database in
      let good = try database.query("SELECT * FROM api_keys WHERE revoked IS NULL")
        .map { row throws(SQLiteFailure) in try APIKeyRecord(row) }
      let ofScope = good.filter { $0.scopes.contains(scope) }.map(\.id)
      guard ofScope != [id] else { return .last }
      try database.execute(
        "UPDATE api_keys SET revoked = coalesce(revoked, ?) WHERE id = ?", .integer(time), .text(id))
      guard database.changes == 1 else { return .unknown }
      database.forgetNotes()  // the key may be good in them
      try database.appendAudit(audit)
      return .revoked
    }
  }
}

extension APIKeyRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    self.init(
      id: try row.text("id"), name: try row.text("name"),
      scopes: try row.text("scopes").split(separator: " ").map(String.init),
      secretDigest: try row.blob("secret_digest"), created: try row.integer("created"),
      revoked: try row.optionalInteger("revoked"))
    displayName = try row.optionalText("display_name")
  }
}
