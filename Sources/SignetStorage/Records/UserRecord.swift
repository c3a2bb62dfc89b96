/// A user.
public struct UserRecord: Hashable, Sendable {
  /// The user id, as the operator gave it.
  public var id: String
  /// When the user was added.
  public var created: Int64
  /// One-time codes that failed in a row.
  public var failedCodes: Int

  /// Describes a user.
  public init(id: String, created: Int64, failedCodes: Int = 0) {
    (self.id, self.created, self.failedCodes) = (id, created, failedCodes)
  }
}
