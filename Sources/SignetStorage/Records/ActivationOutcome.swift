/// The outcome of a *finish* message.
public enum ActivationOutcome: Hashable, Sendable {
  /// The container is pending.
  case staged
  /// The proof was wrong; the number of remaining attempts.
  case wrongProof(remaining: Int)
  /// One of the keys belongs to another authenticator; nothing was counted.
  case keyTaken
  /// The activation was used, replaced, has expired or has no attempts left.
  case closed
}

/// The outcome of a *confirm* message.
public enum ConfirmationOutcome: Hashable, Sendable {
  /// The container is active now.
  case activated
  /// It was active before.
  case alreadyActive
  /// There is no such container, or it has ended.
  case gone
}
