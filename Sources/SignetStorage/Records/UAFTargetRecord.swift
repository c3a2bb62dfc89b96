import SignetSQL

/// Where UAF tokens of a user can be sent: one of the user's devices.
public struct UAFTargetRecord: Hashable, Sendable {
  /// Names the target.
  public var id: ID<UAFTargetRecord>
  /// Whose it is.
  public var user: UserID
  /// What the device calls itself; `nil` for nothing.
  public var device: String?
  /// What the user calls it: one of a kind for a user.
  public var name: String
  /// The way of sending that is usual for it.
  public var dispatcher: String?
  /// What the way of sending knows it by, under the server's master key; `nil` for nothing.
  public var sealedTarget: [UInt8]?
  /// The key with which the device signs its requests, X9.63.
  public var signatureKey: [UInt8]
  /// The key that is encrypted to, X9.63.
  public var encryptionKey: [UInt8]?
  /// When it was made, in seconds since 1970.
  public var created: Int64

  /// Describes a target.
  public init(
    id: ID<UAFTargetRecord>, user: UserID, device: String?, name: String, dispatcher: String?,
    sealedTarget: [UInt8]?,
    signatureKey: [UInt8], encryptionKey: [UInt8]?, created: Int64
  ) {
    (self.id, self.user, self.device, self.name) = (id, user, device, name)
    (self.dispatcher, self.sealedTarget, self.signatureKey) = (dispatcher, sealedTarget, signatureKey)
    (self.encryptionKey, self.created) = (encryptionKey, created)
  }
}

/// What a device changes of its target; `nil` leaves a member as it is.
public struct UAFTargetChange: Hashable, Sendable {
  /// Another name.
  public var name: String?
  /// Another way of sending.
  public var dispatcher: String?
  /// What that knows the device by; an empty one takes it away.
  public var sealedTarget: [UInt8]?

  /// Describes a change.
  public init(name: String? = nil, dispatcher: String? = nil, sealedTarget: [UInt8]? = nil) {
    (self.name, self.dispatcher, self.sealedTarget) = (name, dispatcher, sealedTarget)
  }
}

extension UAFTargetRecord {
  static let columns =
    "id, user_id, device, name, dispatcher, sealed_target, signature_key, encryption_key, created, code"

  /// Reads a row.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    self.init(
      id: try row.id(0), user: try row.user(1), device: try row.optional(2, row.text),
      name: try row.text(3), dispatcher: try row.optional(4, row.text),
      sealedTarget: try row.optional(5, row.blob), signatureKey: try row.blob(6),
      encryptionKey: try row.optional(7, row.blob), created: try row.integer(8))
    try mac.check(image, try row.optional(9, row.blob), named: id.text, of: "uaf_targets")
  }

  /// What its MAC covers: all but what the device changes and the master key binds to the target already.
  var image: MACInput {
    var image = MACInput("uaf_targets")
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
  /// The target of an id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  func uafTarget(_ id: ID<UAFTargetRecord>) throws -> UAFTargetRecord? {
    let mac = try rowMAC
    return try row("SELECT \(UAFTargetRecord.columns) FROM uaf_targets WHERE id = $1", [.of(id)]) {
      try UAFTargetRecord($0, mac)
    }
  }

  /// Adds a target.
  func insert(_ target: UAFTargetRecord) throws {
    try execute(
      """
      INSERT INTO uaf_targets (id, user_id, device, name, dispatcher, sealed_target, signature_key, encryption_key, created, code)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      """,
      [
        .of(target.id), .of(target.user), .optional(target.device), .text(target.name),
        .optional(target.dispatcher), .optional(target.sealedTarget), .blob(target.signatureKey),
        .optional(target.encryptionKey), .integer(target.created), .optional(rowMAC.mac(of: target.image)),
      ], changing: 1)
  }
}
