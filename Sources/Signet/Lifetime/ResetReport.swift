/// What a factory reset has done.
public struct ResetReport: Sendable, Hashable {
  /// What became of the notices to servers.
  public let notices: NoticeReport
  /// The containers that could not sign their end, so that their operators have to revoke them.
  public let untold: [UntoldContainer]
  /// Whether everything is gone; if not, only notices are left.
  public let isErased: Bool
}
