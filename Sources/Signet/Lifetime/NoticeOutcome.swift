/// The state of the notice that tells a server about the end of a container.
@nonexhaustive public enum NoticeOutcome: Sendable, Hashable {
  /// The server has received it, or does not know the container.
  case delivered
  /// Delivery failed; ``Device/sendQueuedNotices(evenIfEarly:)`` retries it.
  case queued(SignetFailure)
  /// There is no notice, because the container's keys could not sign; the operator must revoke the container at the server.
  case undeliverable(SignetFailure)
}
