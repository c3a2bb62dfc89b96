import SignetCrypto
import SignetDataDirectory
import SignetJSON
import SignetProtocol
import SignetServer
import SignetStorage
import SignetTerminal

/// `signet-server key …`.
enum KeyCommands {
  static let group = Command(
    "key", "Manage API keys", options: OperatorOptions.connection,
    commands: [
      Command(
        "create", "Create an API key",
        description:
          """
          The key is shown once. With --output it goes to a new file that only its owner may read.

          With --offline the key is written into the data folder, without a server or another key: use it if \
          no key with the scope admin is left. A running server accepts the key at once.
          """,
        options: [
          .value(
            "scope", "What the key can be used for", default: "relying-party", isRepeatable: true,
            completion: .choices(APIKeyService.Scope.allCases.map(\.rawValue))),
          .value(
            "display-name",
            "The name of the requester that users see in transactions; the key's name by default",
            named: "name"),
          .flag("offline", "Write into the database of --data, without a server"),
          .value("output", "Write the key to this new file", named: "file", completion: .file),
        ],
        arguments: [Argument("name", "The name of the key: 1 to 128 characters")],
        examples: [
          .init(
            "signet-server key create shop --output shop.key --data ./demo",
            "Make the key of a relying party"),
          .init(
            "signet-server key create operator --scope admin --offline --data ./demo --output new.key",
            "Make another operator's key where none is left"),
        ], synonyms: ["add", "new"], handler: create),
      Command("list", "List the API keys, revoked ones included") { arguments in
        try await arguments.ask(API.listKeys) {
          arguments.output.print(
            ["KEY", "NAME", "SCOPES", "CREATED", "REVOKED"],
            $0.keys.map {
              [
                $0.id.text, $0.name, $0.scopes.joined(separator: " "), utc($0.created),
                $0.altered ? "altered" : $0.revoked.map(utc) ?? "-",
              ]
            })
        }
      },
      Command(
        "revoke", "Revoke an API key",
        description: "The last active key with the scope admin can't be revoked: create another one first.",
        arguments: [Argument("id", "The key's id")], synonyms: ["delete", "remove"]
      ) { arguments in
        try await arguments.ask(API.revokeKey) { arguments.output.print("revoked \($0.id)") }
      },
    ])

  private static func create(_ arguments: Arguments) async throws -> ExitCode {
    let make = try arguments.isSet("offline") ? maker(arguments) : requester(arguments)
    // Create the file first: a key that could not be written would be lost.
    let path = arguments.optionalString("output")
    var file = try NewFile.named(by: "output", arguments)
    var answer = try await make()
    if let path {
      try file?.write(Array("\(answer.message.key)\n".utf8), or: "revoke the key and make another")
      answer.json["key"] = nil
      answer.json["file"] = .string(path)
    }
    return arguments.show(answer) { created in
      if let path {
        arguments.output.print(fields: [("Key", created.id.text), ("File", path)])
      } else {
        // Only the key, so that the output can go to a file or a vault's input.
        arguments.output.print("\(copied: created.key)")
        arguments.errorOutput.print("This is key \(created.id); it can't be shown again.")
      }
    }
  }

  /// Lets a running server create the key.
  private static func requester(_ arguments: Arguments) throws -> () async throws -> Answer<MadeAPIKey> {
    let client = try OperatorClient(arguments, for: API.addKey)
    let key = order(arguments)
    return { try await client.send(API.addKey, key) }
  }

  private static func order(_ arguments: Arguments) -> NewAPIKey {
    NewAPIKey(
      name: arguments.string("name"), displayName: arguments.optionalString("display-name"),
      scopes: arguments.strings("scope").compactMap(APIKeyService.Scope.init(rawValue:)))
  }

  /// Creates the key in the database of a folder, as `init` creates the first one.
  private static func maker(_ arguments: Arguments) throws -> () async throws -> Answer<MadeAPIKey> {
    for other in ["server", "ca", "key-file"] where arguments.isSet(other) {
      throw UsageFailure.refused("--\(ours: other) goes without --offline")
    }
    guard let data = arguments.optionalString("data") else {
      throw UsageFailure.refused("--offline needs --data: the folder to write into")
    }
    let folder = try DataDirectory(opening: data)
    let order = order(arguments)
    return {
      let context = try folder.serviceContext(
        masterKeyFile: Environment.masterKeyFile, log: .standardError)
      do {
        let key = try await APIKeyService(context).create(
          name: order.name, displayName: order.displayName, scopes: order.scopes, by: .local)
        await context.storage.close()
        let created = MadeAPIKey(id: key.id, key: key.text)
        return Answer(message: created, json: created.json)
      } catch {
        await context.storage.close()
        throw CommandFailure(Dialect.problem(error, context.log))
      }
    }
  }
}
