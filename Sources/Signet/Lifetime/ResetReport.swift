/// The result of a factory reset.
public struct ResetReport: Sendable, Hashable {
  /// The results of the notices to servers.
  public let notices: NoticeReport
  /// The containers that could not sign a notice; their operators must revoke them.
  public let undeliverable: [ContainerAwaitingReport]
  /// Indicates whether everything was erased; otherwise only notices are left.
  public let isErased: Bool
}
