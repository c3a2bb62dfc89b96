import SignetSQL

/// The authenticator that a public key belongs to.
struct KeyHolder: Hashable, Sendable {
  var kind: AuthenticatorRecord.Kind
  /// Its name among its kind.
  var authenticator: String
  /// Whose it is.
  var user: String

  init(_ container: ContainerRecord) {
    (kind, authenticator, user) = (.container, container.id, container.user)
  }

  init(_ key: UAFCredentialRecord) { (kind, authenticator, user) = (.uaf, key.authenticator, key.user) }
}

// The register of public keys: each belongs to one authenticator, also when that is revoked or removed.
extension SQLConnection {
  /// Whether a public key belongs to another authenticator, or to one of a deleted user.
  func isTaken(_ key: PublicKeyDigest, for holder: KeyHolder) throws -> Bool {
    try exists(
      """
      SELECT 1 FROM authenticator_keys WHERE digest = $1
        AND NOT (kind = $2 AND coalesce(authenticator, '') = $3 AND coalesce(user_id, '') = $4)
      """, [.blob(key.bytes), .of(holder.kind), .text(holder.authenticator), .text(holder.user)])
  }

  /// Whether one of the keys of a new container belongs to another authenticator, of whatever kind and state, or has two uses.
  ///
  /// - Parameters:
  ///   - new: The new container.
  ///   - origin: The column by which pending containers are found that it replaces, whose keys are free.
  ///   - id: What that column holds.
  /// - Returns: Whether one is taken.
  /// - Throws: ``SQLFailure``.
  func hasTakenKey(_ new: NewContainer, replacing origin: String, _ id: String) throws -> Bool {
    let keys = new.container.keyDigests
    return try Set(keys).count < keys.count
      || keys.contains { key in
        try exists(
          """
          SELECT 1 FROM authenticator_keys
            LEFT JOIN containers ON kind = 'container' AND containers.id = authenticator
          WHERE digest = $1 AND NOT (coalesce(state, '') = 'pending' AND coalesce(\(origin), '') = $2)
          """, [.blob(key.bytes), .text(id)])
      }
  }

  /// Gives a public key to an authenticator, whose own it may be already.
  func register(_ key: PublicKeyDigest, for holder: KeyHolder) throws {
    guard
      try execute(
        """
        INSERT INTO authenticator_keys (digest, kind, authenticator, user_id) VALUES ($1, $2, $3, $4)
        ON CONFLICT DO NOTHING
        """, [.blob(key.bytes), .of(holder.kind), .text(holder.authenticator), .text(holder.user)]) == 0
    else { return }
    guard try !isTaken(key, for: holder) else { throw StorageFailure.exists }
  }

  /// Frees the keys of a container that never became active, and is replaced.
  func freeKeys(ofContainer id: String, of user: String) throws {
    _ = try execute(
      "DELETE FROM authenticator_keys WHERE user_id = $1 AND authenticator = $2 AND kind = 'container'",
      [.text(user), .text(id)])
  }

  /// Keeps the keys of a deleted user from being registered again, and forgets whose they were.
  func forgetHolders(of user: String) throws {
    _ = try execute(
      "UPDATE authenticator_keys SET authenticator = NULL, user_id = NULL WHERE user_id = $1", [.text(user)])
  }
}

extension ContainerRecord {
  /// The digests of its public keys of all three uses.
  var keyDigests: [PublicKeyDigest] { [sessionKey, encryptionKey, signingKey].map(PublicKeyDigest.init) }
}
