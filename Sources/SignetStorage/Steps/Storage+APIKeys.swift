import SignetSQL

extension Storage {
  /// Adds an API key.
  package func addAPIKey(_ key: APIKeyRecord, audit: AuditRecord) async throws(StorageFailure) {
    try await write { database in
      try database.insert(key)
      try database.appendAudit(audit)
    }
  }

  /// Returns the key with this id, revoked or not; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify.
  package func apiKey(_ id: ID<APIKeyRecord>) async throws(StorageFailure) -> APIKeyRecord? {
    try await read { try $0.anyAPIKey(id)?.checked() }
  }

  /// Returns all keys, oldest first, including those whose row MAC does not verify.
  package func apiKeys() async throws(StorageFailure) -> [APIKeyRecord] {
    try await read { try $0.apiKeys() }
  }

  /// Revokes a key, unless it is the last valid one of a scope that must keep one.
  ///
  /// A key whose row MAC does not verify is not valid, and can be revoked; its row is rewritten.
  ///
  /// - Parameters:
  ///   - id: The key.
  ///   - scope: The scope that must keep a valid key.
  ///   - time: The time of the revocation; a key that was revoked before keeps its time.
  ///   - audit: The event, written if the key is revoked.
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure``.
  package func revokeAPIKey(
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
        database.setLocal(SQLConnection.validKeys, to: [])
        try database.appendAudit(audit)
        return .revoked
      }
    }
  }
}

extension SQLConnection {
  fileprivate func apiKeys() throws -> [APIKeyRecord] {
    try records("ORDER BY created, id")
  }
}
