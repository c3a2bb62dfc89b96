import SignetSQL

extension Storage {
  /// All keys that the server signs or has signed with.
  public func signingKeys() async throws(StorageFailure) -> SigningKeyRecords {
    try await read { [mac] database in
      // By what the MAC of a row covers, as far as that tells them apart; the one that signs is the last.
      let keys = try database.rows(
        "SELECT \(SigningKeyRecord.columns) FROM signing_keys ORDER BY retired IS NULL, created, number"
      ) { try SigningKeyRecord($0, mac) }
      return SigningKeyRecords(all: keys, isNew: try keys.isEmpty && !database.hasHadSigningKey())
    }
  }

  /// Adds a signing key in the place of the present one, which is retired; one whose row was altered stays altered.
  ///
  /// - Parameters:
  ///   - key: The new one.
  ///   - present: The one that is to be the present one; `nil` where there is to be none. Else nothing is changed.
  ///   - audit: The event, written where the key is added.
  /// - Returns: Whether it was added.
  /// - Throws: ``StorageFailure``.
  public func addSigningKey(
    _ key: SigningKeyRecord, replacing present: String?, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { [mac] database in
      let found = try database.row(
        "SELECT \(SigningKeyRecord.columns) FROM signing_keys WHERE retired IS NULL"
      ) { try SigningKeyRecord($0, mac) }
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
  /// Whether there was a signing key: a container comes into use with its public half, and the log has an entry of each.
  fileprivate func hasHadSigningKey() throws -> Bool {
    if try isAnyContainerInUse() { return true }
    // Quotes inside of a member are escaped, so that only the event itself is found. The log is read through on a server that has
    // no key: mostly one that is new.
    return try exists(
      "SELECT 1 FROM audit WHERE event LIKE $1 LIMIT 1", [.text("%\"event\":\"signingKey.added\"%")])
  }
}
