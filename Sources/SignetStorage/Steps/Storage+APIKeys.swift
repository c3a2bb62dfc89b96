import SignetSQL

extension Storage {
  /// Adds an API key.
  public func addAPIKey(_ key: APIKeyRecord, audit: AuditRecord) async throws(StorageFailure) {
    try await write { database in
      try database.execute(
        "INSERT INTO api_keys (id, name, scopes, secret_digest, created, revoked, display_name) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        [
          .text(key.id), .text(key.name), .text(key.scopes.joined(separator: " ")), .blob(key.secretDigest),
          .integer(key.created), .optional(key.revoked), .optional(key.displayName),
        ], changing: 1)
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

extension APIKeyRecord {
  static let columns =
    "id, name, scopes, secret_digest, created, revoked, display_name"

  fileprivate init(_ row: SQLRow) throws {
    self.init(
      id: try row.text(0), name: try row.text(1),
      scopes: try row.text(2).split(separator: " ").map(String.init),
      secretDigest: try row.blob(3), created: try row.integer(4),
      revoked: try row.optional(5, row.integer))
    displayName = try row.optional(6, row.text)
  }
}
