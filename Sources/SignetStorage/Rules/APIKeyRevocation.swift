extension APIKeyRecord {
  /// Whether it may be used.
  package var isGood: Bool { !isAltered && revoked == nil }

  /// A key among all, revoked, or revoked before; one key of a scope has to stay good.
  ///
  /// One whose row was altered is not good, and can be revoked.
  package static func revoking(
    _ id: ID<APIKeyRecord>, among keys: [Self], keepingOneOf scope: String, at time: Int64
  ) -> RecordChange<Self, RevocationOutcome> {
    if keys.filter({ $0.isGood && $0.scopes.contains(scope) }).map(\.id) == [id] { return .refused(.last) }
    guard var key = keys.first(where: { $0.id == id }) else {
      return .refused(.unknown)
    }
    key.revoked = key.revoked ?? time
    return .made(key)
  }
}
