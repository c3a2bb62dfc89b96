/// How the revocation of an API key ended.
public enum RevocationOutcome: Hashable, Sendable {
  /// The key is revoked, now or since earlier.
  case revoked
  /// There is no such key.
  case unknown
  /// It is the last good key of its scope; it stays good.
  case last
}
