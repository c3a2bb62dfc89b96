import Signet
import SignetJSON
import SignetTerminal

extension Command {
  /// Shows the typed values, a warning that the device knows nothing else, and the digits; uses no network.
  static func approveTyped(_ challenge: String, _ arguments: Arguments) async throws -> ExitCode {
    for name in ["qr", "number"] where arguments.isSet(name) {
      throw UsageFailure.refused("--typed and --\(name) exclude each other: the digits name the transaction")
    }
    guard arguments.optionalString("id") == nil else {
      throw UsageFailure.refused("--typed excludes an id: the digits name the transaction")
    }
    _ = try TypedApproval(challenge: challenge)
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    let container = try await ContainerChoice.container(arguments, of: device)
    let approval = try await TypedApproval(challenge: challenge, values: values(arguments))
    let output = arguments.errorOutput
    output.print("You are approving a request that this device cannot display:")
    output.print("  digits  \(approval.challenge)")
    var block = TerminalBlock(on: output)
    for value in approval.values { block.text(value.description, goesOnFurther: true) }
    if !approval.values.isEmpty { output.print(block.text) }
    output.print("  as      \(container.user.text)")
    output.print("  at      \(container.server.fullForm)")
    output.print(
      approval.values.isEmpty
        ? "This device does not know who asks, and for what. Continue only if you started this request yourself."
        : "This device knows nothing else, such as who asks. Continue only if you started this request and mean these values."
    )
    guard try await arguments.confirmsUse("Approve this", of: .oneTimePassword, of: container) else {
      output.print("Nothing was approved.")
      return .failure
    }
    let answer = try await options.authenticated(
      container, key: .oneTimePassword, on: device, to: "Approve what was typed"
    ) {
      try await device.typedAnswer(to: approval, with: container, by: $0)
    }
    if arguments.isSet("json") {
      let values = approval.values.map { JSONValue.string($0.description) }
      let object: JSONObject = [
        "challenge": .string(approval.challenge), "values": .array(values), "answer": .string(answer),
      ]
      arguments.output.print(json: JSONValue.object(object).text)
    } else {
      output.print("Type these digits where the challenge was shown:")
      arguments.output.print("\(ours: answer)")
    }
    return .success
  }

  /// Returns the values of the command line; at a terminal without any, reads values until an empty line.
  private static func values(_ arguments: Arguments) async throws -> [String] {
    let options = arguments.strings("value")
    guard options.isEmpty, SecretInput.terminal.isTerminal, !arguments.isSet("yes"), !arguments.isSet("json"),
      !arguments.isSet("password-fd")
    else { return options }
    var values: [String] = []
    while values.count < TypedApproval.maximumValueCount {
      let line = try await Question.terminal.line(
        "Value \(values.count + 1), or Enter if there is none: ")
      guard !line.isEmpty else { break }
      values.append(line)
    }
    return values
  }
}
