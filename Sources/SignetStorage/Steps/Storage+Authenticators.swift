import SignetSQL

extension Storage {
  /// Returns everything that is bound to a user's account: the only step that reads authenticators of all kinds.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - codeAttempts: The number of consecutive wrong codes that locks a token.
  /// - Returns: Devices and authenticators, oldest first.
  /// - Throws: ``StorageFailure``.
  package func holdings(
    of user: UserID, codeAttempts: Int
  ) async throws(StorageFailure) -> AccountHoldings {
    try await read { database in
      let devices = try database.devices(user: user)
      let account = AccountSnapshot(user: user, devices: devices, codeAttempts: codeAttempts)
      let found = try AuthenticatorRecord.Kind.tables.flatMap {
        try $0.authenticators(of: account, in: database)
      }
      return AccountHoldings(devices: devices, authenticators: found.sorted { $0.created < $1.created })
    }
  }
}

// The register of public keys.
extension SQLConnection {
  /// Returns the register's entry of a public key; `nil` for none.
  func registered(_ key: PublicKeyDigest) throws -> RegisteredPublicKey? {
    try row(
      "SELECT kind, authenticator, user_id FROM authenticator_keys WHERE digest = $1", [.blob(key.bytes)]
    ) { row in
      guard let kind = AuthenticatorRecord.Kind(rawValue: try row.text(0)),
        let authenticator = try row.optional(1, row.text), let user = try row.optional(2, row.user)
      else { return .forgotten }
      return .held(by: KeyHolder(kind: kind, authenticator: authenticator, user: user))
    }
  }

  /// Registers a public key for an authenticator, which may hold it already.
  func register(_ key: PublicKeyDigest, for holder: KeyHolder) throws {
    guard
      try execute(
        """
        INSERT INTO authenticator_keys (digest, kind, authenticator, user_id) VALUES ($1, $2, $3, $4)
        ON CONFLICT DO NOTHING
        """, [.blob(key.bytes), .of(holder.kind), .text(holder.authenticator), .of(holder.user)]) == 0
    else { return }
    if try registered(key)?.isTaken(for: holder) ?? false { throw StorageFailure.exists }
  }

  /// Frees the keys of an authenticator that never became active, and is replaced.
  func freeKeys(of holder: KeyHolder) throws {
    _ = try execute(
      "DELETE FROM authenticator_keys WHERE user_id = $1 AND authenticator = $2 AND kind = $3",
      [.of(holder.user), .text(holder.authenticator), .of(holder.kind)])
  }

  /// Removes the owner from the keys of a deleted user; the keys stay registered, so that no other account can register them.
  func forgetHolders(of user: UserID) throws {
    _ = try execute(
      "UPDATE authenticator_keys SET authenticator = NULL, user_id = NULL WHERE user_id = $1", [.of(user)])
  }
}
