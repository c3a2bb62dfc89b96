import SignetJSON
import SignetServer
import SignetTerminal

/// `signet-server otp …`: what a relying party does.
enum CodeCommands {
  static let group = Command(
    "otp", "Check one-time passwords, as a relying party", options: OperatorOptions.connection,
    commands: [
      Command(
        "validate", "Check a one-time password, which uses it up",
        description: "The exit status is 0 for a valid one and 1 for another. Why is in the audit log.",
        options: [client], arguments: [UserCommands.user, Argument("code", "What the user typed")],
        synonyms: ["check", "verify"]
      ) {
        try await ask(API.validateCode, $0, ["code": .string($0.string("code"))], "valid")
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
        var body: JSONObject = [
          "codes": [.string(arguments.string("first")), .string(arguments.string("second"))]
        ]
        if let serial = arguments.optionalString("serial") { body["serial"] = .string(serial) }
        return try await ask(API.resynchroniseCodes, arguments, body, "resynchronised")
      },
    ])

  private static let client = Option.value(
    "client", "The end user's address, whose failures make it wait", named: "address")

  private static func ask(
    _ endpoint: some DescribedEndpoint, _ arguments: Arguments, _ members: JSONObject, _ member: String
  ) async throws -> ExitCode {
    var body = members
    body["user"] = .string(arguments.string("user"))
    if let client = arguments.optionalString("client") { body["client"] = .string(client) }
    let answer = try await OperatorClient.send(endpoint, arguments, body: body)
    return try report(answer, member, arguments)
  }

  /// Says whether codes were right and, where they were not, what can be done.
  static func report(_ answer: JSONObject, _ member: String, _ arguments: Arguments) throws -> ExitCode {
    let isGood = try answer.bool(member)
    let output = arguments.output
    if arguments.isSet("json") {
      output.print(answer)
    } else if isGood {
      output.print(output.styled("\(ours: member)", .green))
    } else {
      let advice: TerminalText =
        switch try answer.optionalString("reason") {
        case "waiting": ": try again in \(try answer.integer("retryAfter")) s"
        case "locked": ": locked after too many wrong ones"
        default: ""
        }
      output.print(output.styled("not \(ours: member)", .red) + advice)
    }
    return isGood ? .success : .failure
  }
}
