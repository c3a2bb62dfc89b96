/// The outcome of a *finish* message of a renewal.
public enum RenewalOutcome: Hashable, Sendable {
  /// The successor is pending.
  case staged
  /// The present keys did not prove it.
  case notSigned
  /// One of the new keys belongs to another authenticator; nothing was counted.
  case keyTaken
  /// There were too many consecutive wrong signatures or codes.
  case locked
  /// The container is not active any more.
  case gone
}
