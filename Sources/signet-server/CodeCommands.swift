import SignetServer
import SignetStorage
import SignetTerminal

/// `signet-server otp …`: commands for relying parties.
enum CodeCommands {
  static let group = Command(
    "otp", "Check one-time passwords, as a relying party", options: OperatorOptions.connection,
    commands: [
      Command(
        "validate", "Check a one-time password, which uses it up",
        description: "The exit status is 0 for a valid one and 1 for another. Why is in the audit log.",
        options: [client], arguments: [UserCommands.user, Argument("code", "What the user typed")],
        synonyms: ["check", "verify"]
      ) { arguments in
        let code = try CodeToValidate(
          user: arguments.value("user"), code: arguments.string("code"),
          client: arguments.optionalString("client"))
        return try await ask(API.validateCode, arguments, code, "valid")
      },
      Command(
        "resync", "Find the place of what makes a user's codes again, and unlock it, by two codes in a row",
        description: """
          Both are used up. It authenticates nobody: check another code afterwards. Under a silent lock it does not unlock; \
          'user unlock' does.
          """,
        options: [client, .value("serial", "The token, where it is one", named: "serial")],
        arguments: [
          UserCommands.user, Argument("first", "What the user typed"), Argument("second", "What came next"),
        ]
      ) { arguments in
        let codes = try CodesToResynchronise(
          user: arguments.value("user"), codes: [arguments.string("first"), arguments.string("second")],
          serial: arguments.optionalValue("serial"), client: arguments.optionalString("client"))
        return try await ask(API.resynchroniseCodes, arguments, codes, "resynchronised")
      },
    ])

  /// The option for the client that a relying party asks for.
  static let client = Option.value(
    "client",
    "Who waits after wrong ones: the end user's IP address, or any 1 to 64 visible ASCII characters that stand for the client (a mistyped address is such a text)",
    named: "address")

  /// Verifies codes; prints the result and, for wrong codes, the remedy.
  static func ask<Codes>(
    _ endpoint: Endpoint<APIKeyRecord, Codes, CodeAnswer>, _ arguments: Arguments, _ codes: Codes,
    _ verdict: String
  ) async throws -> ExitCode {
    let answer = try await OperatorClient(arguments, for: endpoint).send(endpoint, codes)
    let output = arguments.output
    arguments.show(answer) { answer in
      let advice: TerminalText =
        switch answer.reason {
        case .waiting: ": try again in \(answer.retryAfter ?? 0) s"
        case .locked: ": locked after too many wrong ones"
        case .refused, nil: ""
        }
      output.print(
        answer.isAccepted
          ? output.styled("\(ours: verdict)", .green) : output.styled("not \(ours: verdict)", .red) + advice)
    }
    return answer.message.isAccepted ? .success : .failure
  }
}
