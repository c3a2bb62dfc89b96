import SignetJSON
import SignetTerminal

/// `signet-server otp …`: what a relying party does.
enum CodeCommands {
  static let group = Command(
    "otp", "Check one-time passwords, as a relying party", options: OperatorOptions.connection,
    commands: [
      Command(
        "validate", "Check a one-time password, which uses it up",
        description: "The exit status is 0 for a valid one and 1 for another. Why is in the audit log.",
        arguments: [UserCommands.user, Argument("code", "What the user typed")]
      ) { arguments in
        let answer = try await OperatorClient(arguments, as: .relyingParty).post(
          "otp", "validate",
          body: ["user": .string(arguments.string("user")), "code": .string(arguments.string("code"))])
        let isValid = try answer.bool("valid")
        let output = arguments.output
        if arguments.isSet("json") {
          output.print(answer)
        } else {
          output.print(isValid ? output.styled("valid", .green) : output.styled("not valid", .red))
        }
        return isValid ? .success : .failure
      }
    ])
}
