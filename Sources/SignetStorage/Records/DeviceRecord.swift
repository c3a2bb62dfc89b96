import SignetSQL

/// A device: everything that is bound to the account on it is locked and revoked together.
///
/// The device is identified only by the installation id that its authenticators report. Nothing proves that two
/// authenticators with the same id are on one device, or that an authenticator without an id is on another device.
package struct DeviceRecord: Hashable, Sendable {
  /// The id of the device, which the server derives from the user and the installation.
  package var id: ID<DeviceRecord>
  /// The user.
  package var user: UserID
  /// The installation id: that of its activations in lower-case hexadecimal, or the `deviceId` of a UAF client.
  package var installation: String
  /// The user's name for it; may be empty.
  package var name: String
  /// Its operating system; may be empty.
  package var platform: String
  /// When something was first bound to it, in seconds since 1970.
  package var created: Int64
  /// The compliance state: the stricter one of the operator's order and of its container's compliance state.
  package var compliance = ComplianceState.open
  /// Indicates whether an operator has locked the device itself.
  package var isOrderedLocked = false
  /// The reason of that lock, in the operator's words; may be empty.
  package var orderedReason = ""
  /// When an operator last locked or unlocked it, in seconds since 1970; `nil` for never.
  package var ordered: Int64?
  /// Indicates whether its row's MAC does not verify; never stored, set when the row is read.
  ///
  /// The server accepts no UAF key on such a device, and binds nothing new to it; containers have their own compliance state.
  package var isAltered = false

  /// Describes a device with the compliance state ``ComplianceState/open``.
  package init(
    id: ID<DeviceRecord>, user: UserID, installation: String, name: String, platform: String, created: Int64
  ) {
    self.id = id
    self.user = user
    self.installation = installation
    self.name = name
    self.platform = platform
    self.created = created
  }
}

/// An item that the account loses with a device or a container.
package enum DeviceLoss: Hashable, Sendable {
  /// A container, which is revoked.
  case container(ContainerID)
  /// A UAF key of a user, which is revoked: its model and its key id.
  case key(user: UserID, aaid: String, keyID: [UInt8])
  /// A target of UAF tokens, which is removed.
  case target(ID<UAFTargetRecord>)
}

/// The outcome of a lock or an unlock of a device.
package enum DeviceLockOutcome: Hashable, Sendable {
  /// It was carried out; the commands are those to the device's containers.
  case done([DeviceCommandRecord])
  /// There is no such device.
  case unknown
  /// A container of the device has an order to be wiped, which the device may have carried out already; an unlock is rejected.
  case toBeWiped
  /// The MAC of the device's row does not verify: the device has to be locked first, which rewrites the row.
  case altered
}

extension DeviceRecord: StoredRecord, AlterableRecord {
  package static let table = "devices"
  static let columns =
    "standing, id, user_id, installation, name, platform, created, ordered_lock, ordered_reason, ordered, code"

  /// Reads a row; if its MAC does not verify, ``isAltered`` is true.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    let compliance: ComplianceState = try row.value(0)
    self.init(
      id: try row.id(1), user: try row.user(2), installation: try row.text(3), name: try row.text(4),
      platform: try row.text(5), created: try row.integer(6))
    self.compliance = compliance
    (isOrderedLocked, orderedReason) = (try row.bool(7), try row.text(8))
    ordered = try row.optional(9, row.integer)
    isAltered = !mac.matches(image, try row.optional(10, row.blob))
  }

  /// The input of the row's MAC: all columns.
  var image: MACInput {
    var image = MACInput(Self.table)
    image.append(id)
    image.append(user)
    image.append(installation)
    image.append(name)
    image.append(platform)
    image.append(created)
    image.append(compliance.rawValue)
    image.append(isOrderedLocked ? 1 : 0)
    image.append(orderedReason)
    image.append(ordered)
    return image
  }
}

extension SQLConnection {
  /// Adds a device, unless there is a row with this user and installation.
  func insert(_ device: DeviceRecord) throws {
    _ = try execute(
      """
      INSERT INTO devices (id, user_id, installation, name, platform, created, standing, ordered_lock, ordered_reason, code)
      VALUES ($1, $2, $3, $4, $5, $6, $7, 0, '', $8) ON CONFLICT DO NOTHING
      """,
      [
        .of(device.id), .of(device.user), .text(device.installation), .text(device.name),
        .text(device.platform), .integer(device.created), .of(device.compliance),
        .optional(rowMAC.mac(of: device.image)),
      ])
  }
}
