/// The results of a delivery of queued notices.
public struct NoticeReport: Sendable, Hashable {
  /// The notices that servers have received now.
  public internal(set) var delivered: [QueuedNotice] = []
  /// The notices that stay queued, in their state before this attempt.
  public internal(set) var waiting: [Waiting] = []
  /// The notices that expired and were deleted; the operator must revoke these containers.
  public internal(set) var expired: [QueuedNotice] = []

  /// A notice that stays queued.
  public struct Waiting: Sendable, Hashable {
    /// The notice.
    public let notice: QueuedNotice
    /// The failure of this attempt; `nil` if the next attempt was not due yet.
    public let failure: SignetFailure?
  }

  /// Indicates whether there were no notices.
  public var isEmpty: Bool { delivered.isEmpty && waiting.isEmpty && expired.isEmpty }
}
