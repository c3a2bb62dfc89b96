package import SignetJSON
import SignetProtocol
package import SignetStorage

/// A device's report about itself.
package struct ConditionReport: Message {
  package let report: String?

  package static let schema = MessageSchema(Self.init) {
    Member("report", \Self.report, "A JWS of the type signet-evidence.")
  }
}

/// A device's receipt for a command.
package struct CommandAcknowledgementNotice: Message {
  package let receipt: String

  package static let schema = MessageSchema(Self.init) {
    Member("receipt", \Self.receipt, "A JWS of the type signet-order-receipt.")
  }
}

/// An operator's reason for a command to a container, or for the lock of a device.
package struct NewDeviceCommand: Message {
  package let reason: String?

  package init(reason: String?) { self.reason = reason }

  package static let schema = MessageSchema(Self.init) {
    Member("reason", \Self.reason, .text(...200), "At most 200 plain characters.")
  }
}

extension DeviceCommandRecord.Action: Shaped {}

/// Account policies for a container.
package struct AttachedPolicies: Message {
  package let policies: JSONObject

  package init(policies: JSONObject) { self.policies = policies }

  package static let schema = MessageSchema(Self.init) {
    Member("policies", \Self.policies, "docs/account-policies.md")
  }
}

/// The attached policies that this server does not evaluate.
package struct PoliciesAttached: Message {
  package let id: ContainerID, unknown: [String]

  package static let schema = MessageSchema(Self.init) {
    Member("id", \Self.id)
    Member("unknown", \Self.unknown)
  }
}

/// A container's policies, locks, reports and commands.
package struct AccountDescription: Message {
  package struct Command: Message {
    package let id: DeviceCommandID, action: DeviceCommandRecord.Action, reason: String, created: Int64,
      done: Bool
    package let receipt: String?, received: Int64?

    package static let schema = MessageSchema(Self.init) {
      Member("id", \Self.id)
      Member("action", \Self.action)
      Member("reason", \Self.reason)
      Member("created", \Self.created)
      Member("done", \Self.done)
      Member("receipt", \Self.receipt)
      Member("received", \Self.received)
    }
  }
  package let container: ContainerID, compliance: ComplianceState, reason: String?, policies: JSONObject
  package let reportRequested: Bool, report: String?, reported: Int64?, commands: [Command]

  package static let schema = MessageSchema(Self.init) {
    Member("container", \Self.container)
    Member("standing", \Self.compliance)
    Member("reason", \Self.reason)
    Member("policies", \Self.policies, "docs/account-policies.md")
    Member("reportWanted", \Self.reportRequested)
    Member("report", \Self.report)
    Member("reported", \Self.reported)
    Member("orders", \Self.commands)
  }
}

/// A new command for a container's device.
package struct MadeDeviceCommand: Sendable {
  package let id: ContainerID, command: DeviceCommandID, action: String

  static func schema(_ action: DeviceCommand.Action) -> MessageSchema<Self> {
    MessageSchema(Self.init) {
      Member("id", \Self.id)
      Member("order", \Self.command)
      Member("action", \Self.action, .oneOf(action.rawValue))
    }
  }
}

extension API {
  package static let reportCondition = Endpoint(
    .post, "/device/condition", .attest, "reportCondition",
    "Report the device's properties, and get the reaction",
    details: "docs/protocol.md section 14.", in: .device, by: .deviceGrantingNothing,
    takes: .json(ConditionReport.self), answers: .jose("A JWS of the type signet-condition."),
    or: [.forbidden, .conflict])
  package static let receiveReceipt = Endpoint(
    .post, "/device/orders", .attest, "receiveReceipt", "Confirm that an order was carried out",
    details: "docs/protocol.md section 14.3. The receipt is signed, the request is not.", in: .device,
    by: .none, takes: .bytes(describedBy: CommandAcknowledgementNotice.described),
    answers: .status("received", "The receipt is stored."), or: [.unauthorized, .forbidden, .unknown])
  package static let lockContainer = commanding(.lock, "lockContainer", "Lock a container")
  package static let unlockContainer = commanding(.unlock, "unlockContainer", "Unlock a container")
  package static let wipeContainer = commanding(
    .wipe, "wipeContainer", "Order a device to delete a container")
  package static let attachPolicies = Endpoint(
    .put, "/admin/containers/{id}/policies", .manage, "attachAccountPolicies",
    "Attach account policies to a container", in: .users, by: .admin, takes: .json(AttachedPolicies.self),
    answers: .json(PoliciesAttached.self, "The policies apply."), or: [.unknown])
  package static let detachPolicies = Endpoint(
    .delete, "/admin/containers/{id}/policies", .manage, "detachAccountPolicies",
    "Return a container to the policies of its profile", in: .users, by: .admin,
    answers: .json(NamedByID.self, "The policies apply."), or: [.unknown])
  package static let showAccount = Endpoint(
    .get, "/admin/containers/{id}/account", .read, "showAccount",
    "Show a container's policies, locks, last report and orders", in: .users, by: .admin,
    answers: .json(AccountDescription.self, "The container's state at the server."), or: [.unknown])

  private static func commanding(
    _ action: DeviceCommand.Action, _ id: String, _ summary: String
  ) -> Endpoint<APIKeyRecord, NewDeviceCommand, MadeDeviceCommand> {
    Endpoint(
      .post, "/admin/containers/{id}/\(action.rawValue)", .manage, id, summary,
      details:
        "docs/protocol.md section 14.3. It takes effect at the server immediately; the device sends a receipt.",
      in: .users, by: .admin, takes: .json(NewDeviceCommand.self),
      answers: .json(MadeDeviceCommand.schema(action), "The order.", status: 201), or: [.unknown])
  }
}

/// The endpoints for account policies and locks, for devices and operators (`docs/protocol.md` section 14).
struct AccountEndpoints: Sendable {
  let devices: DeviceManagement
  let users: UserService

  var routes: [Route] {
    [
      API.reportCondition.answered { [devices] call in
        try await devices.answer(
          call.input.report, for: call.caller.container, request: call.caller.request)
      },
      API.receiveReceipt.answered { [devices] call in
        try await devices.receive(call.input)
      },
      command(.lock, by: API.lockContainer),
      command(.unlock, by: API.unlockContainer),
      command(.wipe, by: API.wipeContainer),
      API.attachPolicies.answered { [devices] call in
        let id: ContainerID = call.id()
        let unknown = try await devices.attach(
          call.input.policies, to: id, by: call.caller.actor)
        return PoliciesAttached(id: id, unknown: unknown)
      },
      API.detachPolicies.answered { [devices] call in
        let id: ContainerID = call.id()
        _ = try await devices.attach(nil, to: id, by: call.caller.actor)
        return NamedByID(id)
      },
      API.showAccount.answered { [devices, users] call in
        try await devices.description(of: users.container(call.id()))
      },
    ]
  }

  private func command(
    _ action: DeviceCommand.Action, by endpoint: Endpoint<APIKeyRecord, NewDeviceCommand, MadeDeviceCommand>
  ) -> Route {
    endpoint.answered { [devices] call in
      let command = try await devices.command(
        action, for: call.id(), reason: call.input.reason ?? "", by: call.caller.actor)
      return MadeDeviceCommand(id: command.container, command: command.id, action: action.rawValue)
    }
  }
}
