import SignetServer
import SignetStorage
import SignetTerminal

/// `signet-server device …`.
enum DeviceCommands {
  private static let id = Argument("id", "The device's id")

  static let group = Command(
    "device", "Manage the devices of users, each with everything on it", options: OperatorOptions.connection,
    commands: [
      Command(
        "list", "List a user's devices",
        description: """
          Containers and UAF keys that name the same installation are on one device. UAF keys of clients that name none are on no \
          device, and neither are authenticator apps ('app list'). APP is the version in the last report of a container.
          """,
        arguments: [UserCommands.user]
      ) { arguments in
        try await arguments.ask(API.listDevices) {
          arguments.output.print(
            ["DEVICE", "STANDING", "NAME", "PLATFORM", "APP", "ADDED", "LAST SEEN", "REASON"],
            $0.devices.map {
              [
                $0.id.text, $0.compliance.rawValue, $0.name, $0.platform, $0.appVersion ?? "",
                utc($0.created),
                $0.lastSeen.map(utc) ?? "", $0.reason ?? "",
              ]
            })
        }
      },
      Command(
        "lock", "Lock a device: nothing that is bound to it is accepted",
        description: """
          This applies to its container's codes and approvals and to its UAF keys, and nothing new can be \
          bound to it. Its user can still deny, and remove the keys there. Authenticator apps are on no \
          device: use 'app remove' for them. If it has a container, the device gets the lock as with \
          'container lock', and sends a signed receipt.
          """,
        options: [
          .value(
            "reason", "The reason, for the device's user and the audit log; at most 200 characters",
            named: "text")
        ], arguments: [id]
      ) { arguments in
        try await arguments.ask(API.lockDevice, NewDeviceCommand(reason: arguments.optionalString("reason")))
        {
          arguments.output.print("locked \($0.id) of user \($0.user)")
        }
      },
      Command(
        "unlock", "End the locks of a device that operators have set, and those of its container",
        description: """
          If the server has locked the container because of a report of its device, the next report ends \
          that lock.
          """,
        arguments: [id]
      ) { arguments in
        try await arguments.ask(API.unlockDevice) {
          let done = $0.compliance == .locked ? "still locked (user show says why):" : "unlocked"
          arguments.output.print("\(ours: done) \($0.id) of user \($0.user)")
        }
      },
      Command(
        "revoke", "Revoke everything that is bound to a device, permanently",
        description: """
          Its container is revoked, its UAF keys are too and cannot be registered again, and tokens are not sent there any more. The \
          device can be enrolled anew with other keys; 'device lock' prevents that.
          """,
        arguments: [id], synonyms: ["delete", "remove"]
      ) { arguments in
        try await arguments.ask(API.revokeDevice) {
          arguments.output.print("revoked \($0.id) of user \($0.user)")
        }
      },
    ])
}
