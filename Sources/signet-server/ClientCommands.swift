import SignetJSON
import SignetServer
import SignetStorage
import SignetTerminal

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
            "authentication", "How the client authenticates",
            default: ClientRecord.Authentication.privateKeyJWT.rawValue,
            completion: .choices(ClientRecord.Authentication.allCases.map(\.rawValue))),
          .value("jwks", "Its public keys: a file with a JWK Set", named: "file", completion: .file),
          .value(
            "delivery", "How the client gets the decision", default: ClientRecord.Delivery.poll.rawValue,
            completion: .choices(ClientRecord.Delivery.allCases.map(\.rawValue))),
          .value(
            "notification-endpoint",
            "The endpoint for notifications, with --delivery ping or push: an https URL",
            named: "url"),
          .value(
            "request-algorithm",
            "The algorithm of the signatures of all requests; without it, requests are not signed",
            named: "alg", completion: .choices(OpenIDNames.clientAlgorithmNames)),
          .value(
            "number", "Show a number of this many digits, 2 to 6, which the user must type", named: "n"),
          .value("output", "Write the secret to this new file", named: "file", completion: .file),
        ],
        arguments: [Argument("name", "The name of the requester that users see: 1 to 128 characters")],
        examples: [
          .init(
            "signet-server client add 'Example Bank' --jwks bank.jwks --data ./demo",
            "Register a client that polls and has keys"),
          .init(
            "signet-server client add Shop --authentication client_secret_basic --output shop.secret "
              + "--delivery ping --notification-endpoint https://shop.example/ciba --data ./demo",
            "Register a client that is notified, and has a secret"),
        ], synonyms: ["create", "new"], handler: add),
      Command("list", "List the clients, revoked ones included") { arguments in
        try await arguments.ask(API.listClients) {
          arguments.output.print(
            ["CLIENT", "NAME", "AUTHENTICATION", "DELIVERY", "CREATED", "REVOKED"],
            $0.clients.map {
              [
                $0.id.text, $0.name, $0.authentication.rawValue, $0.delivery.rawValue, utc($0.created),
                $0.altered ? "altered" : $0.revoked.map(utc) ?? "-",
              ]
            })
        }
      },
      Command("show", "Show a client", arguments: [id]) { arguments in
        try await arguments.ask(API.showClient) { try show($0, arguments) }
      },
      Command(
        "revoke", "Revoke a client",
        description:
          "The client gets no notifications and no tokens any more, not even for earlier requests.",
        arguments: [id], synonyms: ["delete", "remove"]
      ) { arguments in
        try await arguments.ask(API.revokeClient) { arguments.output.print("revoked \($0.id)") }
      },
    ])

  private static func show(_ client: ClientDescription, _ arguments: Arguments) throws {
    var fields = [
      ("Client", client.id.text), ("Name", client.name), ("Authentication", client.authentication.rawValue),
      ("Delivery", client.delivery.rawValue),
    ]
    if let url = client.notificationEndpoint { fields.append(("Told at", url)) }
    if let name = client.requestAlgorithm { fields.append(("Requests", name)) }
    if let digits = client.numberDigits { fields.append(("Number", "\(digits) digits")) }
    for case .object(let key) in try client.jwks?.array("keys") ?? [] {
      fields.append(("Key", try key.optionalString("kid") ?? key.string("kty")))
    }
    fields.append(("Created", utc(client.created)))
    if client.altered { fields.append(("Row", "altered in the database")) }
    if let time = client.revoked { fields.append(("Revoked", utc(time))) }
    arguments.output.print(fields: fields)
  }

  private static func add(_ arguments: Arguments) async throws -> ExitCode {
    let client = try OperatorClient(arguments, for: API.addClient)
    let registration = try registration(arguments)
    // Create the file first: a secret that could not be written would be lost.
    let path = arguments.optionalString("output")
    var file = try NewFile.named(by: "output", arguments)
    var answer = try await client.send(API.addClient, registration, sayingFor: options)
    let secret = answer.message.secret
    if let path, let secret {
      try file?.write(Array("\(secret)\n".utf8), or: "revoke the client and make another")
      answer.json["secret"] = nil
      answer.json["file"] = .string(path)
    }
    return arguments.show(answer) { created in
      var fields = [("Client", created.id.text), ("Issuer", created.issuer)]
      if let secret { fields.append(path.map { ("File", $0) } ?? ("Secret", secret)) }
      arguments.output.print(fields: fields, copying: ["Client", "Issuer", "Secret"])
      if path == nil, secret != nil { arguments.errorOutput.print("The secret can't be shown again.") }
    }
  }

  /// The command-line options for the members of a registration.
  private static let options: KeyValuePairs = [
    "notificationEndpoint": "--notification-endpoint", "requestAlgorithm": "--request-algorithm",
    "numberDigits": "--number", "jwks": "--jwks", "ping": "--delivery ping", "push": "--delivery push",
    "private_key_jwt": "--authentication private_key_jwt",
  ]

  private static func registration(_ arguments: Arguments) throws -> NewClient {
    let authentication: ClientRecord.Authentication = try arguments.value("authentication")
    guard authentication == .clientSecretBasic || !arguments.isSet("output") else {
      throw UsageFailure.refused(
        "--output goes with --authentication client_secret_basic, which makes a secret")
    }
    return try NewClient(
      name: arguments.string("name"), authentication: authentication, delivery: arguments.value("delivery"),
      notificationEndpoint: arguments.optionalString("notification-endpoint"),
      requestAlgorithm: arguments.optionalString("request-algorithm"),
      numberDigits: arguments.optionalInteger("number", in: 2...6).map { Int64($0) },
      jwks: arguments.optionalString("jwks").map { try jsonObject(at: $0, option: "jwks") })
  }
}
