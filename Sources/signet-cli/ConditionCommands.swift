import Signet
import SignetJSON
import SignetPolicy
import SignetTerminal

extension Command {
  static let condition = Command(
    "condition", "Check this device against the server's requirements: account policies, locks, reports",
    description: """
      A container can have requirements of the device: for example, that it shows no sign of tampering, has an \
      enrolled fingerprint, or is up to date. If one is not met, the container is locked: it makes no codes and \
      approves nothing until the requirement is met again. Transactions can always be denied.
      """,
    commands: [
      Command(
        "show", "Evaluate a container's policies, and show its locks",
        description: "The exit status is 0 if the container is not locked, 1 if it is.",
        options: [ContainerChoice.option]
      ) { arguments in
        let device = try DeviceOptions(arguments).device(createIfMissing: false)
        let container = try await ContainerChoice.container(arguments, of: device)
        let status = try await device.evaluateAccountPolicies(of: container)
        try await show(status, of: container, on: device, arguments)
        return status.lock.isLocked ? .failure : .success
      },
      Command(
        "report",
        "Report the state of this device to a container's server, and carry out the server's commands",
        description: """
          The report is signed. The server may lock the container, refuse its codes, or have it deleted; policies that \
          the server attaches apply from then on. signet pending and signet listen report by themselves if the server \
          requires it. The exit status is 0 if the container is not locked afterwards, 1 if it is locked or was \
          deleted.
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
          .value("policy", "The policy of the container that is the cause", named: "name"),
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
        "unlock", "Unlock a container that was locked by hand, or after inactivity",
        description: """
          The command asks for the password of the container, or for another enabled method. Locks by the server, and \
          by policies that are still broken, stay: the exit status is then 1.
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
      arguments.output.print("Unknown, and not evaluated: \(unknown, limit: 1000)")
    }
    for broken in status.lock.broken {
      arguments.output.print("Broken: \(broken.breach, limit: 1000)")
    }
    if let reason = status.stepUpReason {
      arguments.output.print("Its server accepts no codes for now, but approvals: \(reason, limit: 1000)")
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
