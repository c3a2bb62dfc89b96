/// How a *finish* message of a renewal ended.
public enum RenewalOutcome: Hashable, Sendable {
  /// The successor is pending.
  case staged
  /// The present keys did not prove it.
  case notSigned
  /// Too many wrong signatures or codes in a row.
  case locked
  /// The container is not active any more.
  case gone
}

/// What became of a device's word that it has ended a container.
public enum EndOutcome: Hashable, Sendable {
  /// The container is revoked now, if it was not before, and how it ended is written down.
  case ended
  /// The device has said so before.
  case repeated
  /// There is no such container.
  case unknown
}
