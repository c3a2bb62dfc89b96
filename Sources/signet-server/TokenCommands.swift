import SignetCrypto
import SignetJSON
import SignetOATH
import SignetServer
import SignetTerminal

/// `signet-server token …`.
enum TokenCommands {
  private static let serial = Argument("serial", "The token's serial number")

  static let group = Command(
    "token", "Manage tokens that were not made by a device of Signet", options: OperatorOptions.connection,
    commands: [
      Command(
        "import", "Import tokens from a file",
        description: """
          The file is PSKC (RFC 6030), plain or encrypted; JSON as docs/protocol.md has it, \
          {"tokens":[{"serial":"…","kind":"hotp","secret":"…"}]}, or CSV whose first line names the columns: \
          serial, kind (hotp or totp), the secret as secret-hex, secret-base32 or secret (base64url), and, where they are not the usual ones, algorithm, digits, period, start, counter, user.

          A token that is known already stays as it is, so an import that was cut can be done again. An imported token counts once \
          it was verified.
          """,
        options: [
          .value(
            "transport-key", "The key of an encrypted PSKC file: a file with it in hexadecimal",
            named: "file",
            completion: .file),
          .value(
            "transport-password", "The password of an encrypted PSKC file: a file whose first line it is",
            named: "file",
            completion: .file),
        ],
        arguments: [Argument("file", "The file; - for standard input", completion: .file)],
        examples: [.init("signet-server token import tokens.csv --data ./demo", "Import a box of tokens")],
        handler: importTokens),
      Command(
        "list", "List tokens",
        options: [.value("user", "Those of this user only", named: "user")], handler: list),
      Command(
        "assign", "Give a token to a user, who has to verify it", arguments: [serial, UserCommands.user]
      ) { try await assign($0, ["user": .string($0.string("user"))], "assigned") },
      Command("unassign", "Take a token back from its user", arguments: [serial]) {
        try await assign($0, [:], "took back")
      },
      Command(
        "verify", "Take a token into use by its first right code",
        arguments: [serial, Argument("code", "What the token shows")]
      ) {
        try await prove(API.verifyTokenAsOperator, $0, ["code": .string($0.string("code"))], "verified")
      },
      Command(
        "resync", "Find a token's place again, and unlock it, by two codes in a row",
        arguments: [
          serial, Argument("first", "What the token shows"), Argument("second", "What it shows next"),
        ]
      ) {
        try await prove(
          API.resynchroniseTokenAsOperator, $0,
          ["codes": [.string($0.string("first")), .string($0.string("second"))]],
          "resynchronised")
      },
      Command("disable", "Take a token out of use", arguments: [serial]) {
        try await change(API.disableToken, $0, "disabled")
      },
      Command("enable", "Let a disabled token be verified again", arguments: [serial]) {
        try await change(API.enableToken, $0, "enabled")
      },
      Command("remove", "Remove a token and its secret", arguments: [serial]) { arguments in
        let answer = try await OperatorClient.send(
          API.removeToken, arguments, at: [.serial: arguments.string("serial")])
        return try report(answer, "removed", arguments)
      },
    ])

  private static func importTokens(_ arguments: Arguments) async throws -> ExitCode {
    let file = try TokenFile(arguments.string("file"), key: await transportKey(arguments))
    let client = try OperatorClient(arguments, for: API.addTokens)
    var (added, known): ([JSONValue], [JSONValue]) = ([], [])
    for request in file.requests {
      let answer = try await client.send(API.addTokens, body: request)
      added += try answer.array("added")
      known += try answer.array("known")
    }
    if arguments.isSet("json") {
      arguments.output.print(["added": .array(added), "known": .array(known)])
    } else {
      arguments.output.print(
        "imported \(added.count) \(added.count == 1 ? "token" : "tokens")"
          + (known.isEmpty
            ? ""
            : "; \(known.count) \(known.count == 1 ? "was known and stays" : "were known and stay") as before")
      )
    }
    return .success
  }

  private static func transportKey(_ arguments: Arguments) async throws -> PSKCEncryptionKey? {
    if let path = arguments.optionalString("transport-key") {
      guard !arguments.isSet("transport-password") else {
        throw UsageFailure.refused("--transport-key and --transport-password exclude each other")
      }
      let line = try await firstLine(path)
      do throws(InterchangeFailure) { return try PSKCEncryptionKey(hexadecimal: line) } catch {
        throw CommandFailure(.dataError, "\(path): \(error)")
      }
    }
    guard let path = arguments.optionalString("transport-password") else { return nil }
    return .password(SharedSecretBox(try await firstLine(path)))
  }

  private static func firstLine(_ path: String) async throws -> SecretBytes {
    do {
      return try await SecretInput.file(at: path).read("") { line in
        // Whatever wrote the file may end its lines with CR LF.
        let count = SecretBytes(copying: line).withUInt8Span { bytes in
          bytes.count > 0 && bytes[bytes.count - 1] == 0x0D ? bytes.count - 1 : bytes.count
        }
        return SecretBytes(copying: line.extracting(first: count))
      }
    } catch let failure as SecretInputFailure {
      throw InputFile.unreadable(path, failure.message)
    }
  }

  private static func list(_ arguments: Arguments) async throws -> ExitCode {
    let client = try OperatorClient(arguments, for: API.listTokens)
    var tokens: [JSONObject] = []
    while true {
      var query: [(String, String)] = [("limit", "500")]
      if let user = arguments.optionalString("user") { query.append(("user", user)) }
      if let last = tokens.last { query.append(("after", try last.string("serial"))) }
      let page = try objects("tokens", in: try await client.send(API.listTokens, query: query))
      tokens += page
      if page.count < 500 { break }
    }
    guard !arguments.isSet("json") else {
      arguments.output.print(["tokens": .array(tokens.map { .object($0) })])
      return .success
    }
    var table = TextTable(["TOKEN", "KIND", "STATE", "USER", "FAILURES", "IMPORTED"])
    for token in tokens {
      table.append([
        try token.string("serial"), try token.string("kind"), try token.string("state"),
        try token.optionalString("user") ?? "-", String(try token.integer("failures")),
        utc(try token.integer("created")),
      ])
    }
    arguments.output.print(table)
    return .success
  }

  private static func assign(
    _ arguments: Arguments, _ body: JSONObject, _ done: String
  ) async throws -> ExitCode {
    let answer = try await OperatorClient.send(
      API.assignToken, arguments, at: [.serial: arguments.string("serial")], body: body)
    return try report(answer, done, arguments)
  }

  private static func change(_ endpoint: some DescribedEndpoint, _ arguments: Arguments, _ done: String)
    async throws -> ExitCode
  {
    let answer = try await OperatorClient.send(
      endpoint, arguments, at: [.serial: arguments.string("serial")])
    return try report(answer, done, arguments)
  }

  private static func report(_ answer: JSONObject, _ done: String, _ arguments: Arguments) throws -> ExitCode
  {
    if arguments.isSet("json") {
      arguments.output.print(answer)
    } else {
      arguments.output.print("\(ours: done) \(try answer.string("serial"))")
    }
    return .success
  }

  private static func prove(
    _ endpoint: some DescribedEndpoint, _ arguments: Arguments, _ body: JSONObject, _ member: String
  ) async throws -> ExitCode {
    let answer = try await OperatorClient.send(
      endpoint, arguments, at: [.serial: arguments.string("serial")], body: body)
    return try CodeCommands.report(answer, member, arguments)
  }
}
