import SignetCrypto
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetProtocol
import SignetServer
import SignetStorage
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
          {"tokens":[{"serial":"…","kind":"hotp","secret":"…"}]}, or CSV (RFC 4180) whose first line \
          names the columns: serial, kind (hotp or totp), the secret as secret-hex, secret-base32 or secret \
          (base64url), and, where they are not the usual ones, algorithm, digits, period, start, counter, \
          user.

          A token that is known already stays unchanged, so an interrupted import can be repeated; a file \
          with two tokens of one serial number is refused before anything is sent. An imported token is \
          active once it was verified.
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
        "assign", "Assign a token to a user, who must verify it", arguments: [serial, UserCommands.user]
      ) { try await assign($0, to: $0.value("user"), "assigned") },
      Command("unassign", "Unassign a token from its user", arguments: [serial]) {
        try await assign($0, to: nil, "took back")
      },
      Command(
        "verify", "Verify a token by its first right code",
        arguments: [serial, Argument("code", "The code that the token shows")]
      ) {
        try await CodeCommands.ask(
          API.verifyTokenAsOperator, $0, CodeOfToken(code: $0.string("code")), "verified",
          causes: ": wrong or expired code, or no such token; 'signet-server token list' shows what there is")
      },
      Command(
        "resync", "Resynchronise and unlock a token by two codes in a row",
        arguments: [
          serial, Argument("first", "The code that the token shows"),
          Argument("second", "The code that it shows next"),
        ]
      ) {
        try await CodeCommands.ask(
          API.resynchroniseTokenAsOperator, $0,
          CodesOfToken(codes: [$0.string("first"), $0.string("second")]), "resynchronised",
          causes:
            ": wrong or not consecutive codes, or no such token; 'signet-server token list' shows what there is"
        )
      },
      Command("disable", "Disable a token", arguments: [serial]) { arguments in
        try await arguments.ask(API.disableToken) { arguments.output.print("disabled \($0.serial)") }
      },
      Command("enable", "Enable a disabled token, which must be verified again", arguments: [serial]) {
        arguments in
        try await arguments.ask(API.enableToken) { arguments.output.print("enabled \($0.serial)") }
      },
      Command("remove", "Remove a token and its secret", arguments: [serial]) { arguments in
        try await arguments.ask(API.removeToken) { arguments.output.print("removed \($0.serial)") }
      },
    ])

  private static func importTokens(_ arguments: Arguments) async throws -> ExitCode {
    let file = try TokenFile(arguments.string("file"), key: await transportKey(arguments))
    let client = try OperatorClient(arguments, for: API.addTokens)
    var answers: [Answer<AddedTokens>] = []
    for request in try file.requests {
      do { answers.append(try await client.send(API.addTokens, request)) } catch let refusal as ServerRefusal
      {
        throw file.located(refusal, of: request)
      }
    }
    if arguments.isSet("json") {
      arguments.output.print(JSONObject(joining: answers.map(\.json)))
    } else {
      let added = answers.reduce(0) { $0 + $1.message.added.count }
      let knownCount = answers.reduce(0) { $0 + $1.message.known.count }
      arguments.output.print(
        "imported \(added) \(added == 1 ? "token" : "tokens")"
          + (knownCount == 0
            ? ""
            : "; \(knownCount) \(knownCount == 1 ? "was known and stays" : "were known and stay") as before"))
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
        // The file may use CR LF line ends.
        let count = SecretBytes(copying: line).withUInt8Span { bytes in
          bytes.count > 0 && bytes[bytes.count - 1] == 0x0D ? bytes.count - 1 : bytes.count
        }
        return SecretBytes(copying: line.extracting(first: count))
      }
    } catch let failure as SecretInputFailure {
      throw InputFile.unreadable(path, failure)
    }
  }

  private static func list(_ arguments: Arguments) async throws -> ExitCode {
    let user: UserID? = try arguments.optionalValue("user")
    return try await arguments.askPages(API.listTokens, pageSize: 500) { last, count in
      TokenQuery(user: user, after: last?.tokens.last?.serial, limit: count)
    } elements: {
      $0.tokens
    } show: { tokens in
      arguments.output.print(
        ["TOKEN", "KIND", "STATE", "USER", "FAILURES", "IMPORTED"],
        tokens.map {
          [
            $0.serial, $0.kind.rawValue, $0.state.rawValue, $0.user ?? "-", String($0.failures),
            utc($0.created),
          ]
        })
    }
  }

  private static func assign(
    _ arguments: Arguments, to user: UserID?, _ done: String
  ) async throws -> ExitCode {
    try await arguments.ask(API.assignToken, TokenAssignment(user: user)) {
      arguments.output.print("\(ours: done) \($0.serial)")
    }
  }
}
