import SignetSQL

/// A target of a user's UAF tokens: one of the user's devices.
package struct UAFTargetRecord: Hashable, Sendable {
  /// The id of the target.
  package var id: ID<UAFTargetRecord>
  /// The user.
  package var user: UserID
  /// The installation id of the device; `nil` for none.
  package var device: String?
  /// The user's name for it, unique among the user's targets.
  package var name: String
  /// The name of its usual dispatcher.
  package var dispatcher: String?
  /// The dispatcher's address of the device, encrypted under the server's master key; `nil` for none.
  package var sealedTarget: [UInt8]?
  /// The key that verifies the device's requests, X9.63.
  package var signatureKey: [UInt8]
  /// The key for encryption to the device, X9.63.
  package var encryptionKey: [UInt8]?
  /// When it was made, in seconds since 1970.
  package var created: Int64

  /// Describes a target.
  package init(
    id: ID<UAFTargetRecord>, user: UserID, device: String?, name: String, dispatcher: String?,
    sealedTarget: [UInt8]?,
    signatureKey: [UInt8], encryptionKey: [UInt8]?, created: Int64
  ) {
    self.id = id
    self.user = user
    self.device = device
    self.name = name
    self.dispatcher = dispatcher
    self.sealedTarget = sealedTarget
    self.signatureKey = signatureKey
    self.encryptionKey = encryptionKey
    self.created = created
  }
}

/// A device's change of its target; `nil` leaves a member unchanged.
package struct UAFTargetChange: Hashable, Sendable {
  /// The new name.
  package var name: String?
  /// The new dispatcher.
  package var dispatcher: String?
  /// The dispatcher's new address of the device, encrypted; empty to remove it.
  package var sealedTarget: [UInt8]?

  /// Describes a change.
  package init(name: String? = nil, dispatcher: String? = nil, sealedTarget: [UInt8]? = nil) {
    self.name = name
    self.dispatcher = dispatcher
    self.sealedTarget = sealedTarget
  }
}

extension UAFTargetRecord: StoredRecord {
  static let table = "uaf_targets"
  static let columns =
    "id, user_id, device, name, dispatcher, sealed_target, signature_key, encryption_key, created, code"

  /// Reads a row.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if its MAC does not verify; ``SQLFailure``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    self.init(
      id: try row.id(0), user: try row.user(1), device: try row.optional(2, row.text),
      name: try row.text(3), dispatcher: try row.optional(4, row.text),
      sealedTarget: try row.optional(5, row.blob), signatureKey: try row.blob(6),
      encryptionKey: try row.optional(7, row.blob), created: try row.integer(8))
    try mac.check(image, try row.optional(9, row.blob), named: id.text, of: Self.table)
  }

  /// The input of the row's MAC: all columns except those that the device changes and those whose encryption is bound to the target.
  var image: MACInput {
    var image = MACInput(Self.table)
    image.append(id)
    image.append(user)
    image.append(device)
    image.append(signatureKey)
    image.append(encryptionKey)
    image.append(created)
    return image
  }
}

extension SQLConnection {
  /// Returns the target with this id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify; ``SQLFailure``.
  func uafTarget(_ id: ID<UAFTargetRecord>) throws -> UAFTargetRecord? {
    try record("WHERE id = $1", [.of(id)])
  }

  func insert(_ target: UAFTargetRecord) throws {
    try insert(
      into: UAFTargetRecord.table,
      "id, user_id, device, name, dispatcher, sealed_target, signature_key, encryption_key, created, code",
      [
        .of(target.id), .of(target.user), .optional(target.device), .text(target.name),
        .optional(target.dispatcher), .optional(target.sealedTarget), .blob(target.signatureKey),
        .optional(target.encryptionKey), .integer(target.created), .optional(rowMAC.mac(of: target.image)),
      ])
  }
}
