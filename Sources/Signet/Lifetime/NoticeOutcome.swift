/// Whether a server has heard that a container has ended.
@nonexhaustive public enum NoticeOutcome: Sendable, Hashable {
  /// It has, or does not know the container any more.
  case told
  /// Not yet: it is tried again by ``Device/sendQueuedNotices(evenIfEarly:)``.
  case queued(SignetFailure)
  /// It will not: the container's keys could not sign any more. The operator has to revoke it there.
  case untold(SignetFailure)
}
