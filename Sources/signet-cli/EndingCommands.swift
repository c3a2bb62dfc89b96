import Signet
import SignetJSON
import SignetTerminal

extension Command {
  private static let reason = Option.value(
    "reason", "Why, for the audit log of the server; at most 1000 characters", named: "text")

  static let delete = Command(
    "delete", "Delete a container and its keys, and notify its server",
    description: """
      The keys are deleted immediately. The server is notified immediately or, if it cannot be reached, by a later \
      command: the signed notice stays in the data folder for at most 90 days. If the session key has its own \
      password, that one is asked for; without it (an empty line), the server is not notified.
      """,
    options: [ContainerChoice.option, reason, .flag("yes", "Do not ask for confirmation", short: "y")]
  ) { arguments in
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    let container = try await ContainerChoice.container(arguments, of: device, includingUnconfirmed: true)
    let name = container.fullName
    guard try await arguments.confirmsDeletion("Delete \(name), with its keys, for good") else {
      return .failure
    }
    let outcome = try await device.deleteContainer(
      container.id, reason: arguments.optionalString("reason") ?? "",
      by: try await sessionPassword(of: container, options))
    if arguments.isSet("json") {
      let object: JSONObject = [
        "id": .string(container.id.description), "server": .string(ServerNotice(outcome).rawValue),
      ]
      arguments.output.print(json: JSONValue.object(object).text)
    } else {
      arguments.output.print("Deleted \(name).")
    }
    switch outcome {
    case .delivered: break
    case .queued(let failure):
      let reason = TerminalText(describing: failure, limit: 2000)
      arguments.errorOutput.print(
        "signet: the server was not notified yet; signet tries again later: \(reason)")
    default:
      arguments.errorOutput.print(
        "signet: this device cannot notify the server any more; have its operator revoke the container")
    }
    return .success
  }

  static let reset = Command(
    "reset", "Delete everything on this device: all containers and keys, what the hardware stores, all files",
    description: """
      The keys of all containers are deleted immediately, and the servers are notified. If a server cannot be reached, \
      only its notice stays in the data folder: repeat the command later, or add --force, which deletes the notices \
      too; the operators then have to revoke the containers. --force also deletes a vault that cannot be opened.

      If session keys have their own passwords, those are asked for, in the order of signet list; without one (an \
      empty line), that server is not notified. Containers whose servers are not notified are listed, with the ids \
      that the servers use.
      """,
    options: [
      reason, .flag("yes", "Do not ask for confirmation", short: "y"),
      .flag("force", "Also delete notices that were not sent yet, and a vault that cannot be opened"),
    ]
  ) { arguments in
    let options = try DeviceOptions(arguments)
    let device: Device
    do { device = try options.device(createIfMissing: false) } catch let failure as VaultFailure
      where arguments.isSet("force") && failure.isOfTheVaultItself
    {
      let folder = options.folder
      guard
        try await arguments.confirmsDeletion(
          "Delete the vault in \(shellWord(folder)), which cannot be opened")
      else {
        return .failure
      }
      try Vault.erase(inFolder: folder)
      arguments.report(
        "Deleted the vault, which could not be opened; no server was notified.",
        ["erased": true, "server": .string(ServerNotice.undeliverable.rawValue)])
      return .success
    }
    let question: TerminalText = "Delete all containers, keys and files of this device, for good"
    guard try await arguments.confirmsDeletion(question) else { return .failure }
    let report = try await device.reset(
      reason: arguments.optionalString("reason") ?? "", force: arguments.isSet("force"),
      by: try await sessionPasswords(of: device, options))
    options.report(report.notices, goesOn: !report.isErased)
    let unnotified = report.unnotifiedNames
    if !unnotified.isEmpty {
      arguments.errorOutput.print(
        "signet: the servers of these containers are not notified; have their operators revoke them:")
      for name in unnotified { arguments.errorOutput.print("  \(name, limit: 1000)") }
    }
    if arguments.isSet("json") {
      let object: JSONObject = [
        "erased": .bool(report.isErased), "server": .string(ServerNotice(report).rawValue),
      ]
      arguments.output.print(json: JSONValue.object(object).text)
    } else {
      arguments.output.print(
        report.isErased
          ? "Deleted everything."
          : "Deleted all keys; notices to servers are left: repeat this when they can be reached, or with --force."
      )
    }
    return report.isErased ? .success : .unavailable
  }

  /// Reads the password of a session key that has its own, if the user can be asked; an empty line skips it.
  private static func sessionPassword(
    of container: Container, _ options: DeviceOptions
  ) async throws -> Authentication? {
    guard options.arguments.isSet("password-fd") || SecretInput.terminal.isTerminal,
      let password = try await options.password(for: container, key: .sessionTransport),
      password.withSecret({ $0.byteCount }) > 0
    else { return nil }
    return .password(password)
  }

  private static func sessionPasswords(
    of device: Device, _ options: DeviceOptions
  ) async throws -> [Container.ID: Authentication] {
    let containers: [Container]
    do {
      containers = try await device.containers() + device.unconfirmedContainers()
    } catch SignetError
      .vault(.altered)
    {
      // A reset also deletes altered data, without asking for passwords.
      return [:]
    }
    var authentications: [Container.ID: Authentication] = [:]
    for container in containers {
      authentications[container.id] = try await sessionPassword(of: container, options)
    }
    return authentications
  }
}

extension ResetReport {
  /// The names of the containers whose servers this device can no longer notify of their end.
  fileprivate var unnotifiedNames: [String] {
    var names = undeliverable.map { container in
      let name = Self.name(container.user, container.server, container.serverContainerID)
      if container.isAuthentic { return name }
      return container.server.isEmpty
        ? "one that was changed from outside, of which nothing can be read"
        : "\(name), as the folder says, which was changed from outside"
    }
    if isErased {
      names += notices.waiting.map {
        Self.name($0.notice.user, $0.notice.server, $0.notice.serverContainerID)
      }
    }
    return names
  }

  private static func name(_ user: String, _ server: String, _ id: ContainerID?) -> String {
    "\(user) at \(server), container \(id?.text ?? "unknown")"
  }
}

/// The `--json` value `server`: the state of the notices to servers.
private enum ServerNotice: String {
  /// All servers have been notified.
  case delivered = "told"
  /// A notice is queued.
  case queued
  /// This device can no longer notify one of the servers.
  case undeliverable = "untold"

  init(_ outcome: NoticeOutcome) {
    switch outcome {
    case .delivered: self = .delivered
    case .queued: self = .queued
    default: self = .undeliverable
    }
  }

  init(_ report: ResetReport) {
    if !report.undeliverable.isEmpty || report.isErased && !report.notices.waiting.isEmpty {
      self = .undeliverable
    } else {
      self = report.isErased ? .delivered : .queued
    }
  }
}

extension VaultFailure {
  /// True if the vault's own content or keystore is unusable, as opposed to the folder, the disk, or a temporary condition.
  fileprivate var isOfTheVaultItself: Bool {
    switch self {
    case .damaged, .altered, .rolledBack: true
    case .keystore(let failure): failure.remedy == .registerAnew
    default: false
    }
  }
}
