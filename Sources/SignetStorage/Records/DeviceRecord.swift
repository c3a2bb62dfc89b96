import SignetSQL

/// What a person holds: all that is bound to the account there stands and falls with it.
///
/// A device is what calls itself so: nothing proves that two authenticators that name one installation are on one device, or that one
/// that names none is on another.
public struct DeviceRecord: Hashable, Sendable {
  /// Names the device: made by the server, the same wherever the same user's same installation is found.
  public var id: ID<DeviceRecord>
  /// Whose it is.
  public var user: UserID
  /// What it calls itself: ``installation(ofContainerDevice:)``, or the `deviceId` of a UAF client.
  public var installation: String
  /// What the user calls it; may be empty.
  public var name: String
  /// Its operating system; may be empty.
  public var platform: String
  /// When something was first bound to it, in seconds since 1970.
  public var created: Int64
  /// What it may do: the gravest of the operator's order and of what its container may do.
  public var standing = ComplianceState.open
  /// Whether an operator has locked the device itself.
  public var isOrderedLocked = false
  /// Why, in the operator's words; may be empty.
  public var orderedReason = ""
  /// When the operator last locked or unlocked it, in seconds since 1970; `nil` for never.
  public var ordered: Int64?
  /// Whether its row is not as the server wrote it: never stored, and found when the row is read.
  ///
  /// No UAF key on such a device is accepted, and nothing new is bound to it; containers have a standing of their own.
  public var isAltered = false

  /// Describes a device of good standing.
  public init(
    id: ID<DeviceRecord>, user: UserID, installation: String, name: String, platform: String, created: Int64
  ) {
    (self.id, self.user, self.installation) = (id, user, installation)
    (self.name, self.platform, self.created) = (name, platform, created)
  }
}

/// What a step about a device, or about a container, takes from the account besides.
public enum DeviceLoss: Hashable, Sendable {
  /// A container, which is revoked.
  case container(ContainerID)
  /// A UAF key of a user, which is revoked: its model and its name.
  case key(user: UserID, aaid: String, keyID: [UInt8])
  /// A target of UAF tokens, which is removed.
  case target(ID<UAFTargetRecord>)
}

/// What became of a lock of a device, or of its end.
public enum DeviceLockOutcome: Hashable, Sendable {
  /// It holds; the commands are those to the device's containers.
  case done([DeviceCommandRecord])
  /// There is no such device.
  case unknown
  /// A container of the device is to be deleted, which the device may have done already; nothing unlocks it any more.
  case toBeWiped
  /// The row of the device is not as the server wrote it: it has to be locked first, which writes it anew.
  case altered
}

extension DeviceRecord {
  static let columns =
    "standing, id, user_id, installation, name, platform, created, ordered_lock, ordered_reason, ordered, code"

  /// Reads a row; if its MAC does not match, ``isAltered`` is true.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    let standing: ComplianceState = try row.value(0)
    self.init(
      id: try row.id(1), user: try row.user(2), installation: try row.text(3), name: try row.text(4),
      platform: try row.text(5), created: try row.integer(6))
    self.standing = standing
    (isOrderedLocked, orderedReason) = (try row.bool(7), try row.text(8))
    ordered = try row.optional(9, row.integer)
    isAltered = !mac.isOwn(image, try row.optional(10, row.blob))
  }

  /// The device, where its row is as this server wrote it.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  func checked() throws(StorageFailure) -> DeviceRecord {
    guard !isAltered else { throw .altered(row: id.text, of: "devices") }
    return self
  }

  /// What its MAC covers: all of it.
  var image: MACInput {
    var image = MACInput("devices")
    image.append(id)
    image.append(user)
    image.append(installation)
    image.append(name)
    image.append(platform)
    image.append(created)
    image.append(standing.rawValue)
    image.append(isOrderedLocked ? 1 : 0)
    image.append(orderedReason)
    image.append(ordered)
    return image
  }
}

extension SQLConnection {
  /// Adds a device; one of this user and installation that is there stays as it is.
  func insert(_ device: DeviceRecord) throws {
    _ = try execute(
      """
      INSERT INTO devices (id, user_id, installation, name, platform, created, standing, ordered_lock, ordered_reason, code)
      VALUES ($1, $2, $3, $4, $5, $6, $7, 0, '', $8) ON CONFLICT DO NOTHING
      """,
      [
        .of(device.id), .of(device.user), .text(device.installation), .text(device.name),
        .text(device.platform), .integer(device.created), .of(device.standing),
        .optional(rowMAC.mac(of: device.image)),
      ])
  }
}
