import SignetJSON
import SignetTerminal

/// `signet-server container …`.
enum ContainerCommands {
  static let group = Command(
    "container", "Manage what users hold on their devices", options: OperatorOptions.connection,
    commands: [
      Command("list", "List a user's containers, revoked ones included", arguments: [UserCommands.user]) {
        arguments in
        let answer = try await OperatorClient(arguments, as: .admin)
          .get("admin", "users", arguments.string("user"), "containers")
        guard !arguments.isSet("json") else {
          arguments.output.print(answer)
          return .success
        }
        var table = TextTable(["CONTAINER", "STATE", "DEVICE", "KEYSTORE", "CREATED"])
        for container in try objects("containers", in: answer) {
          table.append([
            try container.string("id"), try container.string("state"), try container.string("name"),
            try container.string("keystore"), utc(try container.integer("created")),
          ])
        }
        arguments.output.write(table.text)
        return .success
      },
      Command(
        "revoke", "End a container for good",
        description: "Nothing that its device signs or computes is accepted from then on.",
        arguments: [Argument("id", "The container's id")]
      ) { arguments in
        let answer = try await OperatorClient(arguments, as: .admin)
          .delete("admin", "containers", arguments.string("id"))
        if arguments.isSet("json") {
          arguments.output.print(answer)
        } else {
          arguments.output.print("revoked \(TerminalText.sanitised(try answer.string("id")))")
        }
        return .success
      },
    ])
}
