/// Where pushes for a container go, as its device said.
public struct PushTargetRecord: Hashable, Sendable {
  /// Names the target.
  public var id: String
  /// Whose it is.
  public var container: String
  /// What the device calls it; may be empty.
  public var name: String
  /// The service that carries the pushes, in the protocol's word.
  public var service: String
  /// The target as the protocol writes it, under the server's master key.
  public var sealedTarget: [UInt8]
  /// When it was made.
  public var created: Int64

  /// Describes a target.
  public init(
    id: String, container: String, name: String, service: String, sealedTarget: [UInt8], created: Int64
  ) {
    (self.id, self.container, self.name) = (id, container, name)
    (self.service, self.sealedTarget, self.created) = (service, sealedTarget, created)
  }
}

/// Whose transactions changed, and up to which change that was looked at.
public struct TransactionChanges: Hashable, Sendable {
  /// The users, each once, in any order.
  public var users: [String]
  /// The position of the last change.
  public var last: LogCursor

  /// Describes changes.
  public init(users: [String], last: LogCursor) {
    self.users = users
    self.last = last
  }
}
