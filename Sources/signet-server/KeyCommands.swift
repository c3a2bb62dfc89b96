import SignetCrypto
import SignetJSON
import SignetServer
import SignetTerminal

/// `signet-server key …`.
enum KeyCommands {
  static let group = Command(
    "key", "Manage API keys", options: OperatorOptions.connection,
    commands: [
      Command(
        "create", "Make an API key",
        description:
          "The key is shown once. With --output it goes to a new file that only its owner may read.",
        options: [
          .value(
            "scope", "What the key is good for", default: "relying-party", isRepeatable: true,
            completion: .choices(APIKeyService.Scope.allCases.map(\.rawValue))),
          .value("output", "Write the key to this new file", named: "file", completion: .file),
        ],
        arguments: [Argument("name", "What the key is called: 1 to 128 characters")],
        examples: [
          .init(
            "signet-server key create shop --output shop.key --data ./demo",
            "Make the key of a relying party")
        ], handler: create),
      Command("list", "List the API keys, revoked ones included") { arguments in
        let answer = try await OperatorClient(arguments, as: .admin).get("admin", "keys")
        guard !arguments.isSet("json") else {
          arguments.output.print(answer)
          return .success
        }
        var table = TextTable(["KEY", "NAME", "SCOPES", "CREATED", "REVOKED"])
        for key in try objects("keys", in: answer) {
          table.append([
            try key.string("id"), try key.string("name"), try key.strings("scopes").joined(separator: " "),
            utc(try key.integer("created")), try key.optionalInteger("revoked").map(utc) ?? "-",
          ])
        }
        arguments.output.write(table.text)
        return .success
      },
      Command("revoke", "End an API key", arguments: [Argument("id", "The key's id")]) { arguments in
        let answer = try await OperatorClient(arguments, as: .admin)
          .delete("admin", "keys", arguments.string("id"))
        if arguments.isSet("json") {
          arguments.output.print(answer)
        } else {
          arguments.output.print("revoked \(TerminalText.sanitised(try answer.string("id")))")
        }
        return .success
      },
    ])

  private static func create(_ arguments: Arguments) async throws -> ExitCode {
    let client = try OperatorClient(arguments, as: .admin)
    // The file first: a key that could be written nowhere would be lost.
    let path = arguments.optionalString("output")
    let file = try path.map(NewKeyFile.init(path:))
    var answer: JSONObject
    do {
      answer = try await client.post(
        "admin", "keys",
        body: [
          "name": .string(arguments.string("name")),
          "scopes": .array(arguments.strings("scope").map { .string($0) }),
        ])
    } catch {
      file?.remove()
      throw error
    }
    let (id, key) = (try answer.string("id"), try answer.string("key"))
    if let path {
      try file?.write(key)
      answer["key"] = nil
      answer["file"] = .string(path)
    }
    if arguments.isSet("json") {
      arguments.output.print(answer)
    } else if let path {
      arguments.output.print(fields: [("Key", id), ("File", path)])
    } else {
      // Nothing but the key, so that it can go into a file or a vault's input.
      arguments.output.print(key)
      arguments.errorOutput.print("This is key \(TerminalText.sanitised(id)); it can't be shown again.")
    }
    return .success
  }
}
