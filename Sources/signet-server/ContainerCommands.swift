import SignetJSON
import SignetServer
import SignetTerminal
import SignetWire

/// `signet-server container …`.
enum ContainerCommands {
  static let group = Command(
    "container", "Manage what users hold on their devices", options: OperatorOptions.connection,
    commands: [
      Command(
        "list", "List a user's containers, revoked ones included",
        description: "What keeps a device's keys is what the device says; nothing attests it.",
        arguments: [UserCommands.user]
      ) {
        arguments in
        let answer = try await OperatorClient.send(
          API.listContainers, arguments, at: [.user: arguments.string("user")])
        guard !arguments.isSet("json") else {
          arguments.output.print(answer)
          return .success
        }
        var table = TextTable(["CONTAINER", "STATE", "DEVICE", "KEYSTORE", "RENEWALS", "CREATED"])
        for container in try objects("containers", in: answer) {
          table.append([
            try container.string("id"), try state(of: container), try container.string("name"),
            try keystore(of: container),
            String(try container.integer("renewals")), utc(try container.integer("created")),
          ])
        }
        arguments.output.print(table)
        return .success
      },
      Command(
        "show", "Show a container, and what its device says of itself",
        description: "What keeps a device's keys is what the device says; nothing attests it.",
        arguments: [Argument("id", "The container's id")]
      ) { arguments in
        let container = try await OperatorClient.send(
          API.showContainer, arguments, at: [.id: arguments.string("id")])
        if arguments.isSet("json") {
          arguments.output.print(container)
        } else {
          arguments.output.print(fields: try fields(of: container))
        }
        return .success
      },
      Command(
        "renew", "Ask a container's device to make new keys",
        description: """
          The device is told when it next asks for its transactions, and its user makes the new keys with 'signet renew'. They come \
          under the server's present policy. Until then the present keys stay good.
          """,
        arguments: [Argument("id", "The container's id")]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.askForRenewal, arguments, at: [.id: arguments.string("id")])
        if arguments.isSet("json") {
          arguments.output.print(answer)
        } else {
          arguments.output.print("asked for a renewal of \(try answer.string("id"))")
        }
        return .success
      },
      Command(
        "revoke", "End a container for good",
        description: "Nothing that its device signs or computes is accepted from then on.",
        arguments: [Argument("id", "The container's id")], synonyms: ["delete", "remove"]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.revokeContainer, arguments, at: [.id: arguments.string("id")])
        if arguments.isSet("json") {
          arguments.output.print(answer)
        } else {
          let (id, user, device) =
            (try answer.string("id"), try answer.string("user"), try answer.string("name"))
          arguments.output.print("revoked \(id) of user \(user), device \"\(device)\"")
        }
        return .success
      },
    ] + ContainerLockCommands.all)

  private static func fields(of container: JSONObject) throws -> [(String, String)] {
    var fields = [
      ("Container", try container.string("id")), ("User", try container.string("user")),
      ("State", try state(of: container)), ("Device", try container.string("name")),
      ("Platform", try container.string("platform")), ("Keystore", try keystore(of: container)),
      ("Signing key", try container.optionalString("keys") ?? "unknown"),
      ("Created", utc(try container.integer("created"))),
      ("Renewals", String(try container.integer("renewals"))),
    ]
    if let renews = try container.optionalString("renews") { fields.append(("Renews", renews)) }
    return fields
  }

  /// What keeps the device's secrets; where its signing key is elsewhere, that too.
  private static func keystore(of container: JSONObject) throws -> String {
    let keystore = try container.string("keystore")
    var notes: [String] = []
    if keystore != DeviceDescription.Keystore.software.rawValue {
      notes.append(try container.bool("simulated") ? "simulated" : "claimed")
    }
    if let keys = try container.optionalString("keys"), keys != keystore { notes.append("signs in \(keys)") }
    return notes.isEmpty ? keystore : "\(keystore) (\(notes.joined(separator: ", ")))"
  }

  /// Where a container stands, and what its device says of it.
  private static func state(of container: JSONObject) throws -> String {
    let state = try container.string("state")
    if let ended = try container.optionalString("ended") { return "\(state) (\(ended))" }
    switch try container.optionalString("standing") {
    case "locked"? where state == "active": return "active (locked)"
    case "stepUp"? where state == "active": return "active (no codes)"
    default: break
    }
    return try container.bool("renewalWanted") && state == "active" ? "active (to be renewed)" : state
  }
}
