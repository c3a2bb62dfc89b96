/// A user.
public struct UserRecord: Hashable, Sendable {
  /// The user id, as the operator gave it.
  public var id: String
  /// When the user was added.
  public var created: Int64

  /// Describes a user.
  public init(id: String, created: Int64) {
    (self.id, self.created) = (id, created)
  }
}
