/// The outcome of an attempt with one-time passwords.
public enum CodeOutcome: Hashable, Sendable {
  /// The codes are right, and are used now.
  case accepted
  /// The codes are wrong or used before, or there is no matching credential.
  case refused
  /// Not evaluated: the address has to wait for this many seconds.
  case waiting(seconds: Int64)
  /// Not evaluated: too many consecutive codes were rejected.
  case locked
  /// Not evaluated: the API key is revoked.
  case keyRevoked
}
