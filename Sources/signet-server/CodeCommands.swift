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
        description: "The exit status is 0 for a valid code and 1 otherwise. The audit log has the reason.",
        options: [client], arguments: [UserCommands.user, Argument("code", "What the user typed")],
        synonyms: ["check", "verify"]
      ) { arguments in
        let code = try CodeToValidate(
          user: arguments.value("user"), code: arguments.string("code"),
          client: arguments.optionalString("client"))
        return try await ask(API.validateCode, arguments, code, "valid")
      },
      Command(
        "resync", "Resynchronise and unlock a credential by two codes in a row",
        description: """
          Both codes are used up. This authenticates nobody: check another code afterwards. It does not end \
          a silent lock; 'user unlock' does.
          """,
        options: [client, .value("serial", "The token, if the codes are from a token", named: "serial")],
        arguments: [
          UserCommands.user, Argument("first", "What the user typed"), Argument("second", "The next code"),
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
    "The client that must wait after wrong codes: the end user's IP address, or another name of 1 to 64 visible ASCII characters, which a malformed address counts as",
    named: "address")

  /// Verifies codes; prints the result and, for wrong codes, the remedy.
  ///
  /// - Parameters:
  ///   - endpoint: The call.
  ///   - arguments: The command line.
  ///   - codes: The codes.
  ///   - verdict: The result if they are accepted.
  ///   - causes: The possible causes if they are not; empty for a relying party, which shows the result to its user.
  /// - Returns: The exit status.
  /// - Throws: The error of the call.
  static func ask<Codes>(
    _ endpoint: Endpoint<APIKeyRecord, Codes, CodeAnswer>, _ arguments: Arguments, _ codes: Codes,
    _ verdict: String, causes: TerminalText = ""
  ) async throws -> ExitCode {
    let answer = try await OperatorClient(arguments, for: endpoint).send(endpoint, codes)
    let output = arguments.output
    arguments.show(answer) { answer in
      let advice: TerminalText =
        switch answer.reason {
        case .waiting: ": try again in \(answer.retryAfter ?? 0) s"
        case .locked:
          ": locked after too many wrong codes; resynchronise it, or have an operator unlock the user"
        case .refused, nil: causes
        }
      output.print(
        answer.isAccepted
          ? output.styled("\(ours: verdict)", .green) : output.styled("not \(ours: verdict)", .red) + advice)
    }
    return answer.message.isAccepted ? .success : .failure
  }
}
