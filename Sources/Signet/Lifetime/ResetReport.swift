/// What a factory reset has done.
public struct ResetReport: Sendable, Hashable {
  /// What became of the notices to servers.
  public let notices: NoticeReport
  /// How many containers could not sign any more, so that their operators have to revoke them.
  public let untold: Int
  /// Whether everything is gone; if not, only notices are left.
  public let isErased: Bool
}
