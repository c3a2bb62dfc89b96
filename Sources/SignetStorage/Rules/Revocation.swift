/// The outcome of the revocation of an API key.
package enum RevocationOutcome: Hashable, Sendable {
  /// The key is revoked, now or since earlier.
  case revoked
  /// There is no such key.
  case unknown
  /// It is the last valid key of its scope, and was not revoked.
  case last
}

extension APIKeyRecord {
  /// Indicates whether it is valid.
  package var isValid: Bool { !isAltered && revoked == nil }

  /// Returns a key of all, revoked now or before, unless it is the last valid one of the scope.
  ///
  /// A key whose row was altered is not valid, and can be revoked.
  package static func revoking(
    _ id: ID<APIKeyRecord>, among keys: [Self], keepingOneOf scope: String, at time: Int64
  ) -> RecordChange<Self, RevocationOutcome> {
    if keys.filter({ $0.isValid && $0.scopes.contains(scope) }).map(\.id) == [id] { return .refused(.last) }
    guard var key = keys.first(where: { $0.id == id }) else {
      return .refused(.unknown)
    }
    key.revoked = key.revoked ?? time
    return .made(key)
  }
}

extension ClientRecord {
  /// Returns the client, permanently revoked at the time of the first revocation, even if its row was altered.
  package func revoking(at time: Int64) -> Self {
    var client = self
    client.revoked = revoked ?? time
    return client
  }
}
