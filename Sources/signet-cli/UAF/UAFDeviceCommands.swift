import Signet
import SignetTerminal
import SignetUAFClient

extension Command {
  static let uafDevice = Command(
    "device", "Show, change, check and synchronise what servers store about this device",
    description: """
      show contacts no server. change sends another name, or another push token, to all servers. check compares what \
      the servers and this device store; its status is 1 if something differs. sync removes the differences: a key \
      that only one side has is deleted there, and for the rest the data of this device is used. A server that has \
      deleted this device learns of it with the token on --token-fd, or else with the next authentication.
      """,
    options: UAFCommandOptions.server + [
      UAFCommandOptions.token, .value("name", "change: the name of this device"),
      .value("push-token", "change: the token of Firebase Cloud Messaging", named: "token"),
      .flag("no-push", "change: turn pushes off"),
      .value(
        "tries", "change: retries if a server cannot be reached", named: "n", default: "0"),
    ],
    arguments: [
      Argument(
        "action", "show, change, check or sync",
        completion: .choices(UAFDeviceAction.allCases.map(\.rawValue)))
    ]
  ) { arguments in
    let action = try arguments.choice("action", of: UAFDeviceAction.self)
    if action == .change { try checkChange(arguments) }
    let options = try UAFCommandOptions(arguments, mayBeAllowed: true)
    let authorization = try await options.authorization()
    let device = try options.options.device(createIfMissing: false)
    let person = TerminalUAFInteraction(arguments)
    let operations =
      action == .show
      ? try options.localOperations(person, on: device) : try options.operations(person, on: device)
    switch action {
    case .show:
      guard let information = try await operations.localData.deviceInformation() else {
        arguments.errorOutput.print("Nothing is registered on this device.")
        return .failure
      }
      arguments.report(information)
      return .success
    case .change:
      let tries = try arguments.integer("tries", in: 0...10)
      try await operations.changeDeviceInformation(
        name: arguments.optionalString("name"), pushToken: arguments.optionalString("push-token"),
        disablesPush: arguments.isSet("no-push"),
        retry: .exponential(
          maximumRetries: tries, initialDelay: .seconds(1), maximumDelay: .seconds(30), multiplier: 1))
      arguments.report("All servers have the change.", ["changed": .bool(true)])
      return .success
    case .check:
      let check = try await operations.checkDeviceInformation()
      arguments.report(check)
      return check.mismatches.isEmpty ? (check.errors.isEmpty ? .success : .unavailable) : .failure
    case .sync:
      let check = try await operations.checkDeviceInformation()
      let failures = await operations.synchronize(check.mismatches, authorization: authorization)
      arguments.report(
        check, synchronizedBut: failures,
        withTokenOf: authorization == nil ? nil : operations.configuration.baseURL)
      return check.errors.isEmpty && failures.isEmpty ? .success : .unavailable
    }
  }

  private static func checkChange(_ arguments: Arguments) throws {
    guard ["name", "push-token", "no-push"].contains(where: arguments.isSet) else {
      throw CommandFailure(.usage, "give --name, --push-token or --no-push")
    }
    guard !(arguments.isSet("push-token") && arguments.isSet("no-push")) else {
      throw CommandFailure(.usage, "--push-token and --no-push exclude each other")
    }
  }
}

private enum UAFDeviceAction: String, CaseIterable {
  case show
  case change
  case check
  case sync
}
