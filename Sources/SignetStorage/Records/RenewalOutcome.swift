/// How a *finish* message of a renewal ended.
public enum RenewalOutcome: Hashable, Sendable {
  /// The successor is pending.
  case staged
  /// The present keys did not prove it.
  case notSigned
  /// One of the new keys belongs to another authenticator; nothing was counted.
  case keyTaken
  /// Too many wrong signatures or codes in a row.
  case locked
  /// The container is not active any more.
  case gone
}
