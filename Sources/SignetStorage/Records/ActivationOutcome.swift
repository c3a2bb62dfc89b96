/// How a *finish* message ended.
public enum ActivationOutcome: Hashable, Sendable {
  /// The container is pending.
  case staged
  /// The proof was wrong; this many tries are left.
  case wrongProof(remaining: Int)
  /// One of the keys belongs to another authenticator; nothing was counted.
  case keyTaken
  /// The activation is used, replaced, expired or exhausted.
  case closed
}

/// How a *confirm* ended.
public enum ConfirmationOutcome: Hashable, Sendable {
  /// The container is active now.
  case activated
  /// It was active before.
  case alreadyActive
  /// There is no such container, or it ended.
  case gone
}
