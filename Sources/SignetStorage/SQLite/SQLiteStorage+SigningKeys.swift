import SignetSQLite

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func signingKeys() async throws(StorageFailure) -> [SigningKeyRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM signing_keys ORDER BY rowid").map { try SigningKeyRecord($0) }
    }
  }

  /// As ``Storage`` says.
  public func addSigningKey(
    _ key: SigningKeyRecord, replacing present: String?, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      let found = try database.query("SELECT id FROM signing_keys WHERE retired IS NULL").first
      guard try found?.text("id") == present else { return false }
      if let present {
        try database.execute(
          "UPDATE signing_keys SET retired = ? WHERE id = ?", .integer(key.created), .text(present))
      }
      try database.execute(
        "INSERT INTO signing_keys (id, sealed, public_key, created, succession) VALUES (?, ?, ?, ?, ?)",
        .text(key.id), .blob(key.sealed), .blob(key.publicKey), .integer(key.created),
        .optional(key.succession))
      try database.appendAudit(audit)
      return true
    }
  }
}

extension SigningKeyRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    self.init(
      id: try row.text("id"), sealed: try row.blob("sealed"), publicKey: try row.blob("public_key"),
      created: try row.integer("created"), retired: try row.optionalInteger("retired"),
      succession: try row.optionalText("succession"))
  }
}
