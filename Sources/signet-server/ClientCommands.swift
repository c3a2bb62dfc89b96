import SignetJSON
import SignetServer
import SignetStorage
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `signet-server client …`.
enum ClientCommands {
  private static let id = Argument("id", "The client's id")

  static let group = Command(
    "client", "Manage the clients of OpenID Connect",
    description: """
      A client asks users by OpenID Connect CIBA, and gets ID tokens that carry what they signed. It finds all else in \
      URL/.well-known/openid-configuration. docs/protocol.md of the source, section 11, says what is supported.
      """, options: OperatorOptions.connection,
    commands: [
      Command(
        "add", "Register a client",
        description: """
          With --authentication private_key_jwt the client signs with one of the keys in --jwks, P-256 or RSA. With \
          client_secret_basic it gets a secret, which is shown once; with --output it goes to a new file that only its owner may read.
          """,
        options: [
          .value(
            "authentication", "How it proves who it is",
            default: ClientRecord.Authentication.privateKeyJWT.rawValue,
            completion: .choices(ClientRecord.Authentication.allCases.map(\.rawValue))),
          .value("jwks", "Its public keys: a file with a JWK Set", named: "file", completion: .file),
          .value(
            "delivery", "How it gets what was decided", default: ClientRecord.Delivery.poll.rawValue,
            completion: .choices(ClientRecord.Delivery.allCases.map(\.rawValue))),
          .value(
            "notification-endpoint", "Where it is told, with --delivery ping or push: an https URL",
            named: "url"),
          .value(
            "request-algorithm", "What all its requests are signed with; without it they are not signed",
            named: "alg", completion: .choices(OpenIDNames.clientAlgorithmNames)),
          .value(
            "number", "Show a number of so many digits, 2 to 6, which the user has to type", named: "n"),
          .value("output", "Write the secret to this new file", named: "file", completion: .file),
        ],
        arguments: [Argument("name", "What users are told who asks: 1 to 128 characters")],
        examples: [
          .init(
            "signet-server client add 'Example Bank' --jwks bank.jwks --data ./demo",
            "Register a client that polls and has keys"),
          .init(
            "signet-server client add Shop --authentication client_secret_basic --output shop.secret "
              + "--delivery ping --notification-endpoint https://shop.example/ciba --data ./demo",
            "Register a client that is told, and has a secret"),
        ], synonyms: ["create", "new"], handler: add),
      Command("list", "List the clients, revoked ones included") { arguments in
        let answer = try await OperatorClient.send(API.listClients, arguments)
        guard !arguments.isSet("json") else {
          arguments.output.print(answer)
          return .success
        }
        var table = TextTable(["CLIENT", "NAME", "AUTHENTICATION", "DELIVERY", "CREATED", "REVOKED"])
        for client in try objects("clients", in: answer) {
          table.append([
            try client.string("id"), try client.string("name"), try client.string("authentication"),
            try client.string("delivery"), utc(try client.integer("created")),
            try client.bool("altered") ? "altered" : client.optionalInteger("revoked").map(utc) ?? "-",
          ])
        }
        arguments.output.print(table)
        return .success
      },
      Command("show", "Show a client", arguments: [id]) { arguments in
        let answer = try await OperatorClient.send(
          API.showClient, arguments, at: [.id: arguments.string("id")])
        guard !arguments.isSet("json") else {
          arguments.output.print(answer)
          return .success
        }
        var fields = [
          ("Client", try answer.string("id")), ("Name", try answer.string("name")),
          ("Authentication", try answer.string("authentication")),
          ("Delivery", try answer.string("delivery")),
        ]
        if let url = try answer.optionalString("notificationEndpoint") { fields.append(("Told at", url)) }
        if let name = try answer.optionalString("requestAlgorithm") { fields.append(("Requests", name)) }
        if let digits = try answer.optionalInteger("numberDigits") {
          fields.append(("Number", "\(digits) digits"))
        }
        if let keys = try answer.optionalObject("jwks") {
          for key in try objects("keys", in: keys) {
            fields.append(("Key", try key.optionalString("kid") ?? key.string("kty")))
          }
        }
        fields.append(("Created", utc(try answer.integer("created"))))
        if try answer.bool("altered") { fields.append(("Row", "altered in the database")) }
        if let time = try answer.optionalInteger("revoked") { fields.append(("Revoked", utc(time))) }
        arguments.output.print(fields: fields)
        return .success
      },
      Command(
        "revoke", "End a client",
        description: "It is told nothing and gets no tokens any more, also of what it has asked before.",
        arguments: [id], synonyms: ["delete", "remove"]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.revokeClient, arguments, at: [.id: arguments.string("id")])
        if arguments.isSet("json") {
          arguments.output.print(answer)
        } else {
          arguments.output.print("revoked \(try answer.string("id"))")
        }
        return .success
      },
    ])

  private static func add(_ arguments: Arguments) async throws -> ExitCode {
    let client = try OperatorClient(arguments, for: API.addClient)
    let body = try registration(arguments)
    // The file first: a secret that could be written nowhere would be lost.
    let path = arguments.optionalString("output")
    var file = try NewFile.named(by: "output", arguments)
    var answer = try await client.send(API.addClient, body: body, sayingFor: options)
    let secret = try answer.optionalString("secret")
    if let path, let secret {
      try file?.write(Array("\(secret)\n".utf8), or: "revoke the client and make another")
      answer["secret"] = nil
      answer["file"] = .string(path)
    }
    guard !arguments.isSet("json") else {
      arguments.output.print(answer)
      return .success
    }
    var fields = [("Client", try answer.string("id")), ("Issuer", try answer.string("issuer"))]
    if let secret { fields.append(path.map { ("File", $0) } ?? ("Secret", secret)) }
    arguments.output.print(fields: fields, copying: ["Client", "Issuer", "Secret"])
    if path == nil, secret != nil { arguments.errorOutput.print("The secret can't be shown again.") }
    return .success
  }

  /// How what a registration says is given on the command line.
  private static let options: KeyValuePairs = [
    "notificationEndpoint": "--notification-endpoint", "requestAlgorithm": "--request-algorithm",
    "numberDigits": "--number", "jwks": "--jwks", "ping": "--delivery ping", "push": "--delivery push",
    "private_key_jwt": "--authentication private_key_jwt",
  ]

  private static func registration(_ arguments: Arguments) throws -> JSONObject {
    var body: JSONObject = [
      "name": .string(arguments.string("name")),
      "authentication": .string(arguments.string("authentication")),
      "delivery": .string(arguments.string("delivery")),
    ]
    guard
      arguments.string("authentication") == ClientRecord.Authentication.clientSecretBasic.rawValue
        || !arguments.isSet("output")
    else {
      throw UsageFailure.refused(
        "--output goes with --authentication client_secret_basic, which makes a secret")
    }
    if let url = arguments.optionalString("notification-endpoint") {
      body["notificationEndpoint"] = .string(url)
    }
    if let name = arguments.optionalString("request-algorithm") { body["requestAlgorithm"] = .string(name) }
    if let digits = try arguments.optionalInteger("number", in: 2...6) {
      body["numberDigits"] = .integer(Int64(digits))
    }
    if let path = arguments.optionalString("jwks") {
      body["jwks"] = .object(try jsonObject(at: path, option: "jwks"))
    }
    return body
  }
}
