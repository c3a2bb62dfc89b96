import SignetCrypto
import SignetJSON
import SignetServer
import SignetStorage
import SignetTerminal
import SignetWire

/// `signet-server key …`.
enum KeyCommands {
  static let group = Command(
    "key", "Manage API keys", options: OperatorOptions.connection,
    commands: [
      Command(
        "create", "Make an API key",
        description:
          """
          The key is shown once. With --output it goes to a new file that only its owner may read.

          With --offline the key is made by whoever may write in the folder, and no server or key is needed: the way back where \
          no key of scope admin is left. A server that runs knows the key at once.
          """,
        options: [
          .value(
            "scope", "What the key is good for", default: "relying-party", isRepeatable: true,
            completion: .choices(APIKeyService.Scope.allCases.map(\.rawValue))),
          .value(
            "display-name", "What users are told who asks, in transactions; else it is the name",
            named: "name"),
          .flag("offline", "Write into the database of --data, without a server"),
          .value("output", "Write the key to this new file", named: "file", completion: .file),
        ],
        arguments: [Argument("name", "What the key is called: 1 to 128 characters")],
        examples: [
          .init(
            "signet-server key create shop --output shop.key --data ./demo",
            "Make the key of a relying party"),
          .init(
            "signet-server key create operator --scope admin --offline --data ./demo --output new.key",
            "Make another operator's key where none is left"),
        ], synonyms: ["add", "new"], handler: create),
      Command("list", "List the API keys, revoked ones included") { arguments in
        let answer = try await OperatorClient.send(API.listKeys, arguments)
        guard !arguments.isSet("json") else {
          arguments.output.print(answer)
          return .success
        }
        var table = TextTable(["KEY", "NAME", "SCOPES", "CREATED", "REVOKED"])
        for key in try objects("keys", in: answer) {
          table.append([
            try key.string("id"), try key.string("name"), try key.strings("scopes").joined(separator: " "),
            utc(try key.integer("created")),
            try key.bool("altered") ? "altered" : key.optionalInteger("revoked").map(utc) ?? "-",
          ])
        }
        arguments.output.print(table)
        return .success
      },
      Command(
        "revoke", "End an API key",
        description: "The last good key of scope admin can't be revoked: make another one first.",
        arguments: [Argument("id", "The key's id")], synonyms: ["delete", "remove"]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.revokeKey, arguments, at: [.id: arguments.string("id")])
        if arguments.isSet("json") {
          arguments.output.print(answer)
        } else {
          arguments.output.print("revoked \(try answer.string("id"))")
        }
        return .success
      },
    ])

  private static func create(_ arguments: Arguments) async throws -> ExitCode {
    let make = try arguments.isSet("offline") ? maker(arguments) : requester(arguments)
    // The file first: a key that could be written nowhere would be lost.
    let path = arguments.optionalString("output")
    var file = try NewFile.named(by: "output", arguments)
    var answer = try await make()
    let (id, key) = (try answer.string("id"), try answer.string("key"))
    if let path {
      try file?.write(Array("\(key)\n".utf8), or: "revoke the key and make another")
      answer["key"] = nil
      answer["file"] = .string(path)
    }
    if arguments.isSet("json") {
      arguments.output.print(answer)
    } else if let path {
      arguments.output.print(fields: [("Key", id), ("File", path)])
    } else {
      // Nothing but the key, so that it can go into a file or a vault's input.
      arguments.output.print("\(copied: key)")
      arguments.errorOutput.print("This is key \(id); it can't be shown again.")
    }
    return .success
  }

  /// Has a running server make the key.
  private static func requester(_ arguments: Arguments) throws -> () async throws -> JSONObject {
    let client = try OperatorClient(arguments, for: API.addKey)
    var object: JSONObject = [
      "name": .string(arguments.string("name")),
      "scopes": .array(arguments.strings("scope").map { .string($0) }),
    ]
    if let name = arguments.optionalString("display-name") { object["displayName"] = .string(name) }
    let body = object
    return { try await client.send(API.addKey, body: body) }
  }

  /// Makes the key in the database of a folder, as `init` makes the first one.
  private static func maker(_ arguments: Arguments) throws -> () async throws -> JSONObject {
    for other in ["server", "ca", "key-file"] where arguments.isSet(other) {
      throw UsageFailure.refused("--\(ours: other) goes without --offline")
    }
    guard let data = arguments.optionalString("data") else {
      throw UsageFailure.refused("--offline needs --data: the folder to write into")
    }
    let folder = try DataDirectory(opening: data)
    let (name, displayName) = (arguments.string("name"), arguments.optionalString("display-name"))
    let scopes = arguments.strings("scope").compactMap(APIKeyService.Scope.init(rawValue:))
    return {
      let context = try folder.serviceContext(
        masterKeyFile: Environment.masterKeyFile, log: .standardError)
      do {
        let key = try await APIKeyService(context).create(
          name: name, displayName: displayName, scopes: scopes, by: .local)
        await context.storage.close()
        return ["id": .string(key.id), "key": .string(key.text)]
      } catch {
        await context.storage.close()
        throw CommandFailure(Dialect.problem(error, context.log))
      }
    }
  }
}
