import SignetProtocol
import SignetServer
import SignetStorage
import SignetTerminal

/// `signet-server container …`.
enum ContainerCommands {
  static let group = Command(
    "container", "Manage the containers on users' devices", options: OperatorOptions.connection,
    commands: [
      Command(
        "list", "List a user's containers, revoked ones included",
        description: "The keystore is what the device reports; nothing attests it.",
        arguments: [UserCommands.user]
      ) { arguments in
        try await arguments.ask(API.listContainers) {
          arguments.output.print(
            ["CONTAINER", "STATE", "DEVICE", "KEYSTORE", "RENEWALS", "CREATED"],
            $0.containers.map {
              [$0.id.text, state(of: $0), $0.name, keystore(of: $0), String($0.renewals), utc($0.created)]
            })
        }
      },
      Command(
        "show", "Show a container, and the data that its device reports",
        description: "The keystore is what the device reports; nothing attests it.",
        arguments: [Argument("id", "The container's id")]
      ) { arguments in
        try await arguments.ask(API.showContainer) { arguments.output.print(fields: fields(of: $0)) }
      },
      Command(
        "renew", "Ask a container's device to create new keys",
        description: """
          The device is notified when it next asks for its transactions, and its user creates the new keys \
          with 'signet renew'. They have the server's current policy. Until then the current keys stay \
          valid.
          """,
        arguments: [Argument("id", "The container's id")]
      ) { arguments in
        try await arguments.ask(API.askForRenewal) {
          arguments.output.print("asked for a renewal of \($0.id)")
        }
      },
      Command(
        "revoke", "Revoke a container permanently",
        description: "Nothing that its device signs or computes is accepted from then on.",
        arguments: [Argument("id", "The container's id")], synonyms: ["delete", "remove"]
      ) { arguments in
        try await arguments.ask(API.revokeContainer) {
          arguments.output.print("revoked \($0.id) of user \($0.user), device \"\($0.name)\"")
        }
      },
    ] + ContainerLockCommands.all)

  private static func fields(of container: ContainerDescription) -> [(String, String)] {
    var fields = [
      ("Container", container.id.text), ("User", container.user), ("State", state(of: container)),
      ("Device", container.name), ("Platform", container.platform), ("Keystore", keystore(of: container)),
      ("Signing key", container.keys ?? "unknown"), ("Created", utc(container.created)),
      ("Renewals", String(container.renewals)),
    ]
    if let renews = container.renews { fields.append(("Renews", renews.text)) }
    return fields
  }

  /// Returns the keystore of the device's secrets; also that of its signing key, if it differs.
  private static func keystore(of container: ContainerDescription) -> String {
    var qualifiers: [String] = []
    if container.keystore != DeviceDescription.Keystore.software.rawValue {
      qualifiers.append(container.simulated ? "simulated" : "claimed")
    }
    if let keys = container.keys, keys != container.keystore { qualifiers.append("signs in \(keys)") }
    return qualifiers.isEmpty
      ? container.keystore : "\(container.keystore) (\(qualifiers.joined(separator: ", ")))"
  }

  /// Returns the state of a container, with its device's report.
  private static func state(of container: ContainerDescription) -> String {
    let state = container.state.rawValue
    if let ended = container.ended { return "\(state) (\(ended))" }
    guard container.state == .active else { return state }
    return switch container.compliance {
    case .locked: "active (locked)"
    case .stepUp: "active (no codes)"
    case .open: container.renewalWanted ? "active (to be renewed)" : state
    }
  }
}
