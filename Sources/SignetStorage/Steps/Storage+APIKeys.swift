import SignetSQL

extension Storage {
  /// Adds an API key.
  public func addAPIKey(_ key: APIKeyRecord, audit: AuditRecord) async throws(StorageFailure) {
    try await write { database in
      try database.insert(key)
      try database.appendAudit(audit)
    }
  }

  /// The key of this id, revoked or not; `nil` for none.
  public func apiKey(_ id: String) async throws(StorageFailure) -> APIKeyRecord? {
    try await read { database in
      try database.row("SELECT \(APIKeyRecord.columns) FROM api_keys WHERE id = $1", [.text(id)]) {
        try APIKeyRecord($0)
      }
    }
  }

  /// All keys, oldest first.
  public func apiKeys() async throws(StorageFailure) -> [APIKeyRecord] {
    try await read { database in
      try database.rows("SELECT \(APIKeyRecord.columns) FROM api_keys ORDER BY created, id") {
        try APIKeyRecord($0)
      }
    }
  }

  /// Revokes a key, unless it is the last good one of a scope that needs one.
  ///
  /// - Parameters:
  ///   - id: The key.
  ///   - scope: The scope of which one key stays good.
  ///   - time: When; a key that was revoked before keeps its time.
  ///   - audit: The event, written where the key is revoked.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  public func revokeAPIKey(
    _ id: String, keepingOneOf scope: String, at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> RevocationOutcome {
    try await write { database in
      let good = try database.rows("SELECT \(APIKeyRecord.columns) FROM api_keys WHERE revoked IS NULL") {
        try APIKeyRecord($0)
      }
      let ofScope = good.filter { $0.scopes.contains(scope) }.map(\.id)
      guard ofScope != [id] else { return .last }
      guard
        try database.execute(
          "UPDATE api_keys SET revoked = coalesce(revoked, $1) WHERE id = $2", [.integer(time), .text(id)])
          == 1
      else { return .unknown }
      database.setLocal(SQLConnection.goodKey, to: nil)
      try database.appendAudit(audit)
      return .revoked
    }
  }
}
