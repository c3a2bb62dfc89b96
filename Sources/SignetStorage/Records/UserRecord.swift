/// A user.
public struct UserRecord: Hashable, Sendable {
  /// The user id, as the operator gave it.
  public var id: String
  /// When the user was added.
  public var created: Int64
  /// The keyed digest of the code without which no client may ask the user (CIBA section 7.1), 32 bytes; `nil` for none.
  public var codeDigest: [UInt8]?

  /// Describes a user.
  public init(id: String, created: Int64) {
    (self.id, self.created) = (id, created)
  }
}
