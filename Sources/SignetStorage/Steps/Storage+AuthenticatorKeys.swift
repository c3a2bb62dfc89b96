import SignetSQL

/// The authenticator that a public key belongs to.
struct KeyHolder: Hashable, Sendable {
  var kind: AuthenticatorRecord.Kind
  /// Its name among its kind.
  var authenticator: String
  /// Whose it is.
  var user: String
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

  /// Frees the keys of an authenticator that never became active, and is replaced.
  func freeKeys(of holder: KeyHolder) throws {
    _ = try execute(
      "DELETE FROM authenticator_keys WHERE user_id = $1 AND authenticator = $2 AND kind = $3",
      [.text(holder.user), .text(holder.authenticator), .of(holder.kind)])
  }

  /// Keeps the keys of a deleted user from being registered again, and forgets whose they were.
  func forgetHolders(of user: String) throws {
    _ = try execute(
      "UPDATE authenticator_keys SET authenticator = NULL, user_id = NULL WHERE user_id = $1", [.text(user)])
  }
}
