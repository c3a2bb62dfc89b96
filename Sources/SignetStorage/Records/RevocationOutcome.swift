/// The outcome of the revocation of an API key.
public enum RevocationOutcome: Hashable, Sendable {
  /// The key is revoked, now or since earlier.
  case revoked
  /// There is no such key.
  case unknown
  /// It is the last valid key of its scope, and was not revoked.
  case last
}
