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
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so.
  public func apiKey(_ id: ID<APIKeyRecord>) async throws(StorageFailure) -> APIKeyRecord? {
    try await read { try $0.anyAPIKey(id)?.checked() }
  }

  /// All keys, oldest first, also those whose rows were altered.
  public func apiKeys() async throws(StorageFailure) -> [APIKeyRecord] {
    try await read { try $0.apiKeys() }
  }

  /// Revokes a key, unless it is the last good one of a scope that needs one.
  ///
  /// One whose row was altered is not good, and can be revoked; its row is written anew.
  ///
  /// - Parameters:
  ///   - id: The key.
  ///   - scope: The scope of which one key stays good.
  ///   - time: When; a key that was revoked before keeps its time.
  ///   - audit: The event, written where the key is revoked.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  public func revokeAPIKey(
    _ id: ID<APIKeyRecord>, keepingOneOf scope: String, at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> RevocationOutcome {
    try await write { [mac] database in
      let keys = try database.apiKeys()
      switch APIKeyRecord.revoking(id, among: keys, keepingOneOf: scope, at: time) {
      case .refused(let outcome): return outcome
      case .made(let key):
        try database.execute(
          "UPDATE api_keys SET revoked = $1, code = $2 WHERE id = $3",
          [.optional(key.revoked), .optional(mac.mac(of: key.image)), .of(id)], changing: 1)
        database.setLocal(SQLConnection.goodKeys, to: [])
        try database.appendAudit(audit)
        return .revoked
      }
    }
  }
}

extension SQLConnection {
  fileprivate func apiKeys() throws -> [APIKeyRecord] {
    let mac = try rowMAC
    return try rows("SELECT \(APIKeyRecord.columns) FROM api_keys ORDER BY created, id") {
      try APIKeyRecord($0, mac)
    }
  }
}
