import SignetJSON
import SignetServer
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
          device, and neither are authenticator apps ('authenticator list').
          """,
        arguments: [UserCommands.user]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.listDevices, arguments, at: [.user: arguments.string("user")])
        guard !arguments.isSet("json") else {
          arguments.output.print(answer)
          return .success
        }
        var table = TextTable(["DEVICE", "STANDING", "NAME", "PLATFORM", "ADDED", "REASON"])
        for device in try objects("devices", in: answer) {
          table.append([
            try device.string("id"), try device.string("standing"), try device.string("name"),
            try device.string("platform"), utc(try device.integer("created")),
            try device.optionalString("reason") ?? "",
          ])
        }
        arguments.output.print(table)
        return .success
      },
      Command(
        "lock", "Lock a device: nothing of what is bound to it is accepted",
        description: """
          That holds for its container's codes and approvals and for its UAF keys, and nothing new can be bound to it. Its user can \
          still deny, and remove the keys there. Authenticator apps are on no device: 'authenticator remove' is for them. Where it has a container, the device hears of the lock as of 'container lock', and sends a \
          signed receipt.
          """,
        options: [
          .value(
            "reason", "Why, for the device's user and the audit log; at most 200 characters", named: "text")
        ], arguments: [id]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.lockDevice, arguments, at: [.id: arguments.string("id")],
          body: ["reason": .string(arguments.optionalString("reason") ?? "")])
        try report(answer, "locked", arguments)
        return .success
      },
      Command(
        "unlock", "End the locks of a device that operators have set, and those of its container",
        description: """
          Where the server has locked the container for what its device has reported, the next report ends that.
          """,
        arguments: [id]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.unlockDevice, arguments, at: [.id: arguments.string("id")])
        let isLocked = try answer.string("standing") == "locked"
        try report(answer, isLocked ? "still locked (user show says why):" : "unlocked", arguments)
        return .success
      },
      Command(
        "revoke", "Revoke all that is bound to a device, for good",
        description: """
          Its container is revoked, its UAF keys are too and cannot be registered again, and tokens are not sent there any more. The \
          device can be enrolled anew with other keys; 'device lock' prevents that.
          """,
        arguments: [id], synonyms: ["delete", "remove"]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.revokeDevice, arguments, at: [.id: arguments.string("id")])
        try report(answer, "revoked", arguments)
        return .success
      },
    ])

  private static func report(_ answer: JSONObject, _ done: String, _ arguments: Arguments) throws {
    if arguments.isSet("json") {
      arguments.output.print(answer)
    } else {
      arguments.output.print(
        "\(ours: done) \(try answer.string("id")) of user \(try answer.string("user"))")
    }
  }
}
