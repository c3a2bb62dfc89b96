/// What became of the notices that waited.
public struct NoticeReport: Sendable, Hashable {
  /// Those that the servers have heard now.
  public internal(set) var told: [QueuedNotice] = []
  /// Those that wait on, as they were before this attempt.
  public internal(set) var waiting: [Waiting] = []
  /// Those that were given up now; the operator has to revoke the containers.
  public internal(set) var expired: [QueuedNotice] = []

  /// A notice that waits on.
  public struct Waiting: Sendable, Hashable {
    /// The notice.
    public let notice: QueuedNotice
    /// What went wrong just now; `nil` where it is too early for the next attempt.
    public let failure: SignetFailure?
  }

  /// Whether there was nothing to do.
  public var isEmpty: Bool { told.isEmpty && waiting.isEmpty && expired.isEmpty }
}
