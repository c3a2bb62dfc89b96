import SignetSQL

extension Storage {
  /// Returns all keys with which the server signs or has signed.
  package func signingKeys() async throws(StorageFailure) -> SigningKeyRecords {
    try await read { database in
      // Ordered by columns that the MAC covers, as far as they differ; the key that signs is the last.
      let keys: [SigningKeyRecord] = try database.records("ORDER BY retired IS NULL, created, number")
      return SigningKeyRecords(all: keys, isNew: try keys.isEmpty && !database.hasHadSigningKey())
    }
  }

  /// Adds a signing key that replaces the present one, which is retired; one whose row was altered stays altered.
  ///
  /// - Parameters:
  ///   - key: The new key.
  ///   - present: The id of the expected present key; `nil` if none is expected. If it differs, nothing is changed.
  ///   - audit: The event, written if the key is added.
  /// - Returns: `true` if it was added.
  /// - Throws: ``StorageFailure``.
  package func addSigningKey(
    _ key: SigningKeyRecord, replacing present: String?, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { [mac] database in
      let found: SigningKeyRecord? = try database.record("WHERE retired IS NULL")
      guard case .signs(let before) = SigningKeyRotation(to: key, from: found, replacing: present) else {
        return false
      }
      if let before {
        let rowMAC = before.isAltered ? nil : mac.mac(of: before.image)
        try database.execute(
          "UPDATE signing_keys SET retired = $1, code = $2 WHERE id = $3",
          [.optional(before.retired), .optional(rowMAC), .text(before.id)], changing: 1)
      }
      try database.insert(key)
      try database.appendAudit(audit)
      return true
    }
  }
}

extension SQLConnection {
  /// Returns `true` if there has been a signing key: an active container has its public key, and the log has an event for each key.
  fileprivate func hasHadSigningKey() throws -> Bool {
    if try isAnyContainerInUse() { return true }
    // Quotes inside of a member are escaped, so only the event itself matches. The full scan of the log is rare: it runs
    // only if the server has no key, usually when it is new.
    return try exists(
      "SELECT 1 FROM audit WHERE event LIKE $1 LIMIT 1", [.text("%\"event\":\"signingKey.added\"%")])
  }
}
