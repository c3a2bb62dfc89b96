import SignetSQL

/// A push target of a container, as its device set it.
package struct PushTargetRecord: Hashable, Sendable {
  /// The id of the target.
  package var id: PushTargetID
  /// The container.
  package var container: ContainerID
  /// The device's name for it; may be empty.
  package var name: String
  /// The push service, in the protocol's word.
  package var service: String
  /// The target in the form of the protocol, encrypted under the server's master key.
  package var sealedTarget: [UInt8]
  /// When it was made, in seconds since 1970.
  package var created: Int64

  /// Describes a target.
  package init(
    id: PushTargetID, container: ContainerID, name: String, service: String, sealedTarget: [UInt8],
    created: Int64
  ) {
    self.id = id
    self.container = container
    self.name = name
    self.service = service
    self.sealedTarget = sealedTarget
    self.created = created
  }
}

/// The users whose transactions changed, and the position of the last change.
package struct TransactionChanges: Hashable, Sendable {
  /// The users, each once, in any order.
  package var users: [UserID]
  /// The position of the last change.
  package var last: LogCursor
}

extension PushTargetRecord {
  static let columns =
    "id, container, name, service, sealed_target, created"

  init(_ row: SQLRow) throws {
    self.init(
      id: try row.id(0), container: try row.id(1), name: try row.text(2),
      service: try row.text(3), sealedTarget: try row.blob(4),
      created: try row.integer(5))
  }
}

extension SQLConnection {
  func insert(_ target: PushTargetRecord) throws {
    try insert(
      into: "push_targets",
      "id, container, name, service, sealed_target, created",
      [
        .of(target.id), .of(target.container), .text(target.name), .text(target.service),
        .blob(target.sealedTarget), .integer(target.created),
      ])
  }
}
