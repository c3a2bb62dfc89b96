import Signet
import SignetJSON
import SignetTerminal

extension Command {
  static let uafDevice = Command(
    "device", "Show, change, check and put right what servers know of this device",
    commands: [
      Command(
        "show", "Show what this device is to servers", options: [UAFCommandOptions.facet]
      ) { arguments in
        let options = try UAFCommandOptions(arguments)
        let operations = try options.localOperations(
          TerminalUAFInteraction(arguments), on: options.options.device(createIfMissing: false))
        guard let information = try await operations.localData.deviceInformation() else {
          arguments.errorOutput.print("Nothing is registered on this device.")
          return .failure
        }
        if arguments.isSet("json") {
          arguments.output.print(JSONValue.object(information.json).text)
          return .success
        }
        arguments.output.print("name      \(TerminalText.sanitised(information.name, limit: 300))")
        arguments.output.print("device id \(information.deviceID)")
        arguments.output.print("pushes    \(information.pushToken == nil ? "off" : "on")")
        for (account, target) in information.dispatchTargets.sorted(by: { $0.key < $1.key }) {
          let name = TerminalText.sanitised("\(account.username) at \(account.server)", limit: 500)
          arguments.output.print("target    \(name): \(TerminalText.sanitised(target, limit: 100))")
        }
        return .success
      },
      Command(
        "change", "Change what servers call this device, or where they send pushes",
        options: UAFCommandOptions.server + [
          .value("name", "What you call this device"),
          .value("push-token", "Where Firebase Cloud Messaging sends pushes", named: "token"),
          .flag("no-push", "Have no pushes sent any more"),
          .value("tries", "Try again so often where a server cannot be reached", named: "n", default: "0"),
        ]
      ) { arguments in
        guard ["name", "push-token", "no-push"].contains(where: arguments.isSet) else {
          throw CommandFailure(.usage, "give --name, --push-token or --no-push")
        }
        guard !(arguments.isSet("push-token") && arguments.isSet("no-push")) else {
          throw CommandFailure(.usage, "--push-token and --no-push exclude each other")
        }
        let options = try UAFCommandOptions(arguments)
        let tries = try arguments.integer("tries", in: 0...10)
        let operations = try options.operations(
          TerminalUAFInteraction(arguments), on: options.options.device(createIfMissing: false))
        try await operations.changeDeviceInformation(
          name: arguments.optionalString("name"), pushToken: arguments.optionalString("push-token"),
          disablesPush: arguments.isSet("no-push"),
          retry: .exponential(
            maximumRetries: tries, initialDelay: .seconds(1), maximumDelay: .seconds(30), multiplier: 1))
        arguments.report("All servers have heard of the change.", ["changed": .bool(true)])
        return .success
      },
      Command(
        "check", "Compare what servers and this device know",
        description: "The status is 1 where something differs; signet uaf device sync puts it right.",
        options: UAFCommandOptions.server
      ) { arguments in
        let options = try UAFCommandOptions(arguments)
        let operations = try options.operations(
          TerminalUAFInteraction(arguments), on: options.options.device(createIfMissing: false))
        let check = try await operations.checkDeviceInformation()
        arguments.report(check)
        return check.mismatches.isEmpty ? (check.errors.isEmpty ? .success : .unavailable) : .failure
      },
      Command(
        "sync", "Put right what servers and this device know otherwise",
        description: """
          A key that one side alone has is deleted there; for the rest, what this device says counts. A server that has forgotten this \
          device learns of it with the token on --token-fd, or else with the next authentication.
          """,
        options: UAFCommandOptions.server + [UAFCommandOptions.token]
      ) { arguments in
        let options = try UAFCommandOptions(arguments, mayBeAllowed: true)
        let authorization = try await options.authorization()
        let operations = try options.operations(
          TerminalUAFInteraction(arguments), on: options.options.device(createIfMissing: false))
        let check = try await operations.checkDeviceInformation()
        let errors = await operations.synchronize(check.mismatches, authorization: authorization)
        arguments.report(UAFDeviceCheck(mismatches: check.mismatches, errors: check.errors + errors))
        return check.errors.isEmpty && errors.isEmpty ? .success : .unavailable
      },
    ])
}
