import SignetJSON
package import SignetStorage
import SignetWire

extension DeviceDetails.Standing: Shaped {}

/// A device, as operators see it.
package struct DeviceDetails: Message {
  /// How the server stands to it.
  package enum Standing: String, Sendable, CaseIterable {
    case open, stepUp, locked
    /// Its row is not as the server wrote it: no UAF key there is accepted, and nothing new is bound to it.
    case altered
  }

  package let id: ID<DeviceRecord>, user: String, installation: String, name: String, platform: String,
    created: Int64
  package let standing: Standing, locked: Bool, since: Int64?, reason: String?

  package static let schema = MessageSchema(Self.init, named: "Device") {
    Member("id", \Self.id)
    Member("user", \Self.user, .userName)
    Member("installation", \Self.installation, "What the device calls itself; nothing proves it.")
    Member("name", \Self.name)
    Member("platform", \Self.platform)
    Member("created", \Self.created, .time, "When something was first bound to it.")
    Member(
      "standing", \Self.standing,
      "The gravest of an operator's lock and of its container's standing; `altered` where its row is not the server's."
    )
    Member("locked", \Self.locked, "Whether an operator has locked the device itself.")
    Member("since", \Self.since, .time, "When an operator last locked or unlocked it.")
    Member("reason", \Self.reason, "Why, in the operator's words.")
  }
}

extension DeviceDetails {
  init(_ record: DeviceRecord) {
    self.init(
      id: record.id, user: record.user.text, installation: record.installation, name: record.name,
      platform: record.platform, created: record.created, standing: Standing(record),
      locked: record.isOrderedLocked, since: record.ordered,
      reason: record.orderedReason.isEmpty ? nil : record.orderedReason)
  }
}

extension DeviceDetails.Standing {
  fileprivate init(_ record: DeviceRecord) {
    self =
      switch record.standing {
      case _ where record.isAltered: .altered
      case .open: .open
      case .stepUp: .stepUp
      case .locked: .locked
      }
  }
}

/// The devices of a user.
package struct DeviceList: Message {
  package let devices: [DeviceDetails]

  package static let schema = MessageSchema(Self.init) { Member("devices", \Self.devices) }
}

extension API {
  package static let listDevices = Endpoint(
    .get, "/admin/users/{user}/devices", .read, "listDevices", "The devices of a user", in: .users,
    by: .admin, answers: .json(DeviceList.self, "Oldest first."), or: [.unknown])
  package static let showDevice = Endpoint(
    .get, "/admin/devices/{id}", .read, "showDevice", "A device", in: .users, by: .admin,
    answers: .json(DeviceDetails.self, "The device."), or: [.unknown])
  package static let lockDevice = Endpoint(
    .post, "/admin/devices/{id}/lock", .manage, "lockDevice",
    "Accept nothing of what is bound to a device from now on", in: .users, by: .admin,
    takes: .json(NewDeviceCommand.self), answers: .json(DeviceDetails.self, "The device, locked."),
    or: [.unknown])
  package static let unlockDevice = Endpoint(
    .post, "/admin/devices/{id}/unlock", .manage, "unlockDevice",
    "End the locks that operators have set of a device, and of its container", in: .users, by: .admin,
    answers: .json(DeviceDetails.self, "The device."), or: [.unknown])
  package static let revokeDevice = Endpoint(
    .delete, "/admin/devices/{id}", .manage, "revokeDevice",
    "Revoke all that is bound to a device for good", in: .users, by: .admin,
    answers: .json(DeviceDetails.self, "The device; a lock of it stays."), or: [.unknown])
}

/// Devices, as operators manage them (`docs/protocol.md` section 7).
struct DeviceAdminEndpoints: Sendable {
  let devices: DeviceService

  var routes: [Route] {
    [
      API.listDevices.answered { [devices] call in
        DeviceList(devices: try await devices.devices(of: call.user()).map { DeviceDetails($0) })
      },
      API.showDevice.answered { [devices] call in DeviceDetails(try await devices.find(call.id())) },
      API.lockDevice.answered { [devices] call in
        DeviceDetails(
          try await devices.lock(call.id(), reason: call.input.reason ?? "", by: call.caller.actor))
      },
      API.unlockDevice.answered { [devices] call in
        DeviceDetails(try await devices.unlock(call.id(), by: call.caller.actor))
      },
      API.revokeDevice.answered { [devices] call in
        DeviceDetails(try await devices.revoke(call.id(), by: call.caller.actor))
      },
    ]
  }
}
