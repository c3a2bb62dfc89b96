import SignetCrypto
import SignetJSON
import SignetPolicy
import SignetProtocol
package import SignetStorage

extension DeviceDetails.Compliance: Shaped {}

/// A device in operators' lists.
package struct DeviceDetails: Message {
  /// The lock state of a device.
  package enum Compliance: String, Sendable, CaseIterable {
    case open, stepUp, locked
    /// The row does not verify: the server accepts no UAF key on the device, and binds nothing new to it.
    case altered
  }

  package let id: ID<DeviceRecord>, user: String, installation: String, name: String, platform: String,
    created: Int64
  package let appVersion: String?, lastSeen: Int64?
  package let compliance: Compliance, locked: Bool, since: Int64?, reason: String?

  package static let schema = MessageSchema(Self.init, named: "Device") {
    Member("id", \Self.id)
    Member("user", \Self.user, .userName)
    Member("installation", \Self.installation, "The id that the device reports, without proof.")
    Member("name", \Self.name)
    Member("platform", \Self.platform)
    Member("created", \Self.created, .time, "When something was first bound to it.")
    Member("appVersion", \Self.appVersion, "The version of the app in its last report.")
    Member(
      "lastSeen", \Self.lastSeen, .time,
      "The last report of the device, or the last use of an authenticator on it.")
    Member(
      "standing", \Self.compliance,
      "The more severe of the operator's lock and the container's standing; `altered` if its row was not written by this server."
    )
    Member("locked", \Self.locked, "Whether an operator has locked the device itself.")
    Member("since", \Self.since, .time, "When an operator last locked or unlocked it.")
    Member("reason", \Self.reason, "The operator's reason.")
  }
}

extension DeviceDetails {
  /// Creates the details of a device among everything bound to its user's account.
  init(_ record: DeviceRecord, among holdings: AccountHoldings) {
    self.init(
      id: record.id, user: record.user.text, installation: record.installation, name: record.name,
      platform: record.platform, created: record.created, appVersion: holdings.appVersion(on: record.id),
      lastSeen: holdings.lastSeen(record.id), compliance: Compliance(record),
      locked: record.isOrderedLocked, since: record.ordered,
      reason: record.orderedReason.isEmpty ? nil : record.orderedReason)
  }
}

extension AccountHoldings {
  /// Returns the app's version from the device's last report; `nil` if there is none, or if it cannot be displayed.
  fileprivate func appVersion(on device: ID<DeviceRecord>) -> String? {
    let last = authenticators.filter { $0.device == device && $0.lastReport != nil }
      .max { ($0.lastReport ?? 0) < ($1.lastReport ?? 0) }
    guard case .container(let container, let account)? = last?.source, let report = account.report else {
      return nil
    }
    do {
      let key = try P256.Signing.PublicKey(x963: container.sessionKey)
      guard let version = PostureReport.verified(report, with: key)?.evidence.appVersion else { return nil }
      try DisplayText.checkLine(version, member: "appVersion", limit: 128)
      return version
    } catch { return nil }
  }
}

extension DeviceDetails.Compliance {
  fileprivate init(_ record: DeviceRecord) {
    self =
      switch record.compliance {
      case _ where record.isAltered: .altered
      case .open: .open
      case .stepUp: .stepUp
      case .locked: .locked
      }
  }
}

package struct DeviceList: Message {
  package let devices: [DeviceDetails]

  package static let schema = MessageSchema(Self.init) { Member("devices", \Self.devices) }
}

extension API {
  package static let listDevices = Endpoint(
    .get, "/admin/users/{user}/devices", .read, "listDevices", "List the devices of a user", in: .users,
    by: .admin, answers: .json(DeviceList.self, "Oldest first."), or: [.unknown])
  package static let showDevice = Endpoint(
    .get, "/admin/devices/{id}", .read, "showDevice", "A device", in: .users, by: .admin,
    answers: .json(DeviceDetails.self, "The device."), or: [.unknown])
  package static let lockDevice = Endpoint(
    .post, "/admin/devices/{id}/lock", .manage, "lockDevice",
    "Lock a device, and reject everything that is bound to it", in: .users, by: .admin,
    takes: .json(NewDeviceCommand.self), answers: .json(DeviceDetails.self, "The device, locked."),
    or: [.unknown])
  package static let unlockDevice = Endpoint(
    .post, "/admin/devices/{id}/unlock", .manage, "unlockDevice",
    "End the locks that operators set on a device and its container", in: .users, by: .admin,
    answers: .json(DeviceDetails.self, "The device."), or: [.unknown])
  package static let revokeDevice = Endpoint(
    .delete, "/admin/devices/{id}", .manage, "revokeDevice",
    "Revoke everything that is bound to a device, permanently", in: .users, by: .admin,
    answers: .json(DeviceDetails.self, "The device; if it is locked, it stays locked."), or: [.unknown])
}

/// The endpoints with which operators manage devices (`docs/protocol.md` section 7).
struct DeviceAdminEndpoints: Sendable {
  let users: UserService
  let devices: DeviceService

  var routes: [Route] {
    [
      API.listDevices.answered { [users, devices] call in
        let holdings = try await devices.holdings(of: users.find(call.user()).id)
        return DeviceList(devices: holdings.devices.map { DeviceDetails($0, among: holdings) })
      },
      API.showDevice.answered { [self] call in try await details(devices.find(call.id())) },
      API.lockDevice.answered { [self] call in
        try await details(
          devices.lock(call.id(), reason: call.input.reason ?? "", by: call.caller.actor))
      },
      API.unlockDevice.answered { [self] call in
        try await details(devices.unlock(call.id(), by: call.caller.actor))
      },
      API.revokeDevice.answered { [self] call in
        try await details(devices.revoke(call.id(), by: call.caller.actor))
      },
    ]
  }

  private func details(_ device: DeviceRecord) async throws -> DeviceDetails {
    DeviceDetails(device, among: try await devices.holdings(of: device.user))
  }
}
