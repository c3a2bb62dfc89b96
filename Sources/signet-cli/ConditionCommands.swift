import Signet
import SignetJSON
import SignetPolicy
import SignetTerminal

extension Command {
  static let condition = Command(
    "condition", "Look after what this device has to be like: account policies, locks, reports",
    description: """
      A container can ask something of the device: not to be tampered with, to have a fingerprint enrolled, to be up to date. Where \
      that is not so, it is locked: it makes no codes and approves nothing until it is so again. To deny always works.
      """,
    commands: [
      Command(
        "show", "Evaluate a container's policies, and say what locks it",
        description: "The exit status is 0 where nothing locks it, 1 where something does.",
        options: [ContainerChoice.option]
      ) { arguments in
        let device = try DeviceOptions(arguments).device(createIfMissing: false)
        let container = try await ContainerChoice.container(arguments, of: device)
        let status = try await device.evaluateAccountPolicies(of: container)
        try await show(status, of: container, on: device, arguments)
        return status.lock.isLocked ? .failure : .success
      },
      Command(
        "report", "Tell a container's server what this device is like, and do what the server wants",
        description: """
          Signed, so that the server can rely on who says it. The server may lock the container, take no codes of it, or have it deleted; \
          policies that it has attached hold from now on. signet pending and signet listen do this by themselves where the server asks. The \
          exit status is 0 where nothing locks the container now, 1 where something does, or it was deleted.
          """,
        options: [ContainerChoice.option]
      ) { arguments in
        let options = try DeviceOptions(arguments)
        let device = try options.device(createIfMissing: false)
        let container = try await ContainerChoice.container(arguments, of: device)
        let outcome = try await options.authenticated(
          container, key: .sessionTransport, on: device, to: "Report to \(container.server.shortForm)"
        ) { authentication in
          try await container.server.named {
            try await device.reportCondition(of: container, by: authentication)
          }
        }
        switch outcome {
        case .reported(let status):
          try await show(status, of: container, on: device, arguments)
          return status.lock.isLocked ? .failure : .success
        case .wiped:
          arguments.report(
            "Its server had \(container.fullName) deleted.", ["deleted": .string(container.id.description)])
          return .failure
        }
      },
      Command(
        "lock", "Lock a container by hand: it makes no codes and approves nothing until it is unlocked",
        options: [
          ContainerChoice.option, .value("reason", "Why", named: "text"),
          .value("policy", "The policy that is the cause, one of the container's", named: "name"),
        ]
      ) { arguments in
        let device = try DeviceOptions(arguments).device(createIfMissing: false)
        let container = try await ContainerChoice.container(arguments, of: device)
        let lock = try await device.lockAccount(
          container, naming: arguments.optionalString("policy"),
          reason: arguments.optionalString("reason") ?? "")
        arguments.report("Locked \(container.fullName).", ["lock": .object(lock.json)])
        return .success
      },
      Command(
        "unlock", "Unlock a container that was locked by hand, or for not being used",
        description: """
          What opens the container is asked for. Locks of its server, and of policies that are still broken, stay: the exit status is 1 \
          then.
          """,
        options: [ContainerChoice.option]
      ) { arguments in
        let options = try DeviceOptions(arguments)
        let device = try options.device(createIfMissing: false)
        let container = try await ContainerChoice.container(arguments, of: device)
        let lock = try await options.authenticated(
          container, on: device, to: "Unlock \(container.fullName)"
        ) { try await device.unlockAccount(container, by: $0) }
        arguments.report(
          "\(container.fullName): \(lock.description, limit: 1000).",
          ["lock": .object(lock.json)])
        return lock.isLocked ? .failure : .success
      },
    ])

  private static func show(
    _ status: AccountStatus, of container: Container, on device: Device, _ arguments: Arguments
  ) async throws {
    guard !arguments.isSet("json") else {
      var json = status.json
      json["container"] = .string(container.id.description)
      json["evidence"] = .object(try await device.accountEvidence(for: container).json)
      arguments.output.print(json: JSONValue.object(json).text)
      return
    }
    let policies = status.policies.names.joined(separator: ", ")
    arguments.output.print("Policies: \(policies.isEmpty ? "none" : policies, limit: 1000)")
    if !status.unknownPolicies.isEmpty {
      let unknown = status.unknownPolicies.joined(separator: ", ")
      arguments.output.print("Not known here, and not evaluated: \(unknown, limit: 1000)")
    }
    for broken in status.lock.broken {
      arguments.output.print("Broken: \(broken.breach, limit: 1000)")
    }
    if let reason = status.stepUpReason {
      arguments.output.print("Its server takes no codes for now, but approvals: \(reason, limit: 1000)")
    }
    arguments.output.print("\(container.fullName): \(status.lock, limit: 2000)")
  }
}

extension AccountStatus {
  var json: JSONObject {
    var json: JSONObject = [
      "policies": .object(policies.json), "unknown": .array(unknownPolicies.map { .string($0) }),
      "isLocked": .bool(lock.isLocked), "lock": .object(lock.json),
    ]
    json["lockingPolicy"] = lock.lockingPolicy.map { .string($0) }
    json["stepUp"] = stepUpReason.map { .string($0) }
    return json
  }
}
