import Signet
import SignetIntegrity
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
  import SignetLinux
#else
  import Foundation
#endif

/// The options of all commands, and the device that they describe.
struct DeviceOptions {
  static let all: [Option] = [
    .value("data", "The data folder", named: "dir", completion: .directory),
    .value(
      "ca",
      "Trust the certificates in this file (PEM) instead of the system's, if a container has none of its own; activate stores them with the container, signet trust changes them",
      named: "file", completion: .file),
    .value(
      "timeout", "Time limit for an answer of a server, such as 10s or 2m; 0 waits for ever",
      named: "duration",
      default: "30s"),
    .value("retries", "Retries after a failed connection", named: "n", default: "0"),
    .value(
      "password-fd",
      "Read passwords from this file descriptor instead of asking: one a line, in the order in which they are asked for",
      named: "n"),
    .flag("json", "Print JSON"),
  ]

  let arguments: Arguments

  /// - Parameters:
  ///   - arguments: The command line.
  ///   - others: Further options with the number of a descriptor for a secret, in addition to `--password-fd`.
  /// - Throws: `UsageFailure`, and `SecretInputFailure` if the descriptor for a secret is not open.
  init(_ arguments: Arguments, secretsFrom others: [String] = []) throws {
    self.arguments = arguments
    // Checked before the vault's files are opened: a file could get the number and be read as a password.
    for name in ["password-fd"] + others {
      if let descriptor = try arguments.optionalInteger(name, in: 0...65535),
        fcntl(Int32(descriptor), F_GETFD) < 0
      {
        throw SecretInputFailure.descriptorUnusable(Int32(descriptor))
      }
    }
  }

  /// Opens the device in the data folder.
  ///
  /// - Parameters:
  ///   - createIfMissing: True to create a missing folder.
  ///   - responder: Locks other sessions than the device's own, those of the agent, if this program is tampered with.
  /// - Returns: The device.
  /// - Throws: The vault's error.
  func device(
    createIfMissing: Bool, responder: any IntegrityResponder = AgentLock()
  ) throws -> Device {
    do { return try openDevice(createIfMissing: createIfMissing, responder) } catch VaultFailure.folderMissing
    {
      throw nothingActivated("there is no folder \(shellWord(folder))")
    } catch VaultFailure.storage where !holdsVault {
      throw nothingActivated("\(shellWord(folder)) contains no vault")
    }
  }

  /// Opens the device for commands that only read; `nil` if nothing was activated there yet.
  ///
  /// - Throws: The vault's error.
  func deviceIfAny() throws -> Device? {
    do { return try openDevice(createIfMissing: false, AgentLock()) } catch VaultFailure.folderMissing {
      return nil
    } catch VaultFailure.storage where !holdsVault { return nil }
  }

  static let noContainerMessage: TerminalText =
    "There is no container yet; activate this device: \(command: "signet activate --qr FILE")"

  private var holdsVault: Bool { FileManager.default.fileExists(atPath: "\(folder)/vault.sqlite") }

  private func openDevice(
    createIfMissing: Bool, _ responder: any IntegrityResponder
  ) throws -> Device {
    let integrity = try ProgramIntegrity.shared()
    // The app version and the tamper evidence for account policies.
    let policies = AccountPolicies(
      appVersion: signetProgram.version, sources: [IntegrityEvidence(integrity)])
    let gate = IntegrityGate(integrity, responder: responder)
    let tpm = ProcessInfo.processInfo.environment["SIGNET_TPM"].flatMap { $0.isEmpty ? nil : $0 }
    let connection = try connection
    #if os(Linux)
      let vault = try Vault.open(
        inFolder: folder, hardware: .tpm(tpm), cost: passwordCost, createIfMissing: createIfMissing)
      return Device(
        vault: vault, connection: connection, passwordChecks: .platform, biometrics: FprintGate(),
        passcode: PAMPasscode(), accountPolicies: policies, integrity: gate)
    #else
      let vault = try Vault.open(
        inFolder: folder, hardware: .none, cost: passwordCost, createIfMissing: createIfMissing)
      return Device(vault: vault, connection: connection, accountPolicies: policies, integrity: gate)
    #endif
  }

  /// The cost of deriving new keys from passwords; the vault enforces a minimum.
  private var passwordCost: PasswordCost {
    get throws {
      guard let value = ProcessInfo.processInfo.environment["SIGNET_PASSWORD_TIME"], !value.isEmpty else {
        return .standard
      }
      guard let milliseconds = Int(value), (1...10_000).contains(milliseconds) else {
        throw CommandFailure(
          .usage,
          "SIGNET_PASSWORD_TIME must be a number of milliseconds from 1 to 10000; leave it out for 250")
      }
      return .calibrated(milliseconds: milliseconds)
    }
  }

  private func nothingActivated(_ reason: TerminalText) -> CommandFailure {
    CommandFailure(
      .configuration,
      "there is no container yet: \(reason); activate this device (signet activate --qr FILE, or signet uaf register), or name its folder with --data"
    )
  }

  var folder: String {
    if let path = arguments.optionalString("data") { return path }
    let environment = ProcessInfo.processInfo.environment
    if let path = environment["SIGNET_DATA"], !path.isEmpty { return path }
    // XDG Base Directory Specification: an unset or relative XDG_DATA_HOME means ~/.local/share.
    if let base = environment["XDG_DATA_HOME"], base.hasPrefix("/") { return "\(base)/signet" }
    // HOME comes first: Foundation would ask the user database.
    if let home = environment["HOME"], home.hasPrefix("/") { return "\(home)/.local/share/signet" }
    return FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share/signet").path
  }

  private var connection: ConnectionConfiguration {
    get throws {
      ConnectionConfiguration(
        timeoutSeconds: try arguments.seconds("timeout", in: 0...86_400),
        retries: try arguments.integer("retries", in: 0...10),
        certificateAuthoritiesPEM: try certificateAuthorities)
    }
  }

  /// The trusted certificates that the command line names; `nil` for the system's.
  private var certificateAuthorities: String? {
    get throws {
      let value = arguments.optionalString("ca") ?? ProcessInfo.processInfo.environment["SIGNET_CA_FILE"]
      guard let path = value, !path.isEmpty else { return nil }
      return try Self.certificates(inFile: path)
    }
  }

  /// Reads a file of certificates.
  ///
  /// - Throws: `CommandFailure` for a file that cannot be read or has no certificate.
  static func certificates(inFile path: String) throws -> String {
    let text = try InputFile.text(of: path)
    guard text.contains("-----BEGIN CERTIFICATE-----") else {
      throw CommandFailure(
        .dataError, "\(path) has no certificate in PEM; the server's operator has the right one, in ca.pem")
    }
    return text
  }

  /// Reads an existing password.
  ///
  /// - Parameter subject: The locked object, for the prompt.
  /// - Returns: The bytes as typed.
  /// - Throws: `SecretInputFailure`.
  func password(for subject: String) async throws -> SharedSecretBox {
    try await answering(with: Self.passwordOption) {
      try await arguments.secretInput("password-fd").read(
        "Password for \(subject): "
      ) { SharedSecretBox(SecretBytes(copying: $0)) }
    }
  }

  static let passwordOption = "--password-fd, for example --password-fd 3 3<FILE"

  /// Reads the password of a container or one of its keys; `nil` if the device alone protects it.
  func password(for container: Container, key: Key.Usage? = nil) async throws -> SharedSecretBox? {
    guard container.protection(of: key).passwordPolicy != nil else { return nil }
    return try await password(for: container.title(of: key))
  }

  /// Runs a body with the authentication for a key; `nil` if the device alone protects it.
  ///
  /// The password is wiped when this returns. The body therefore returns the result, and the caller prints it.
  func withPassword<Value>(
    for container: Container, key: Key.Usage, _ body: (Authentication?) async throws -> Value
  ) async throws -> Value {
    let password = try await password(for: container, key: key)
    return try await body(password.map { .password($0) })
  }

  /// Resumes interrupted activations, renewals and notices to servers; an unreachable server or a refusal does not stop it.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - mayPrompt: True to ask for passwords of session keys; otherwise those containers wait.
  /// - Throws: The vault's error, and `SecretInputFailure`.
  func catchUp(with device: Device, prompting mayPrompt: Bool) async throws {
    for container in try await device.unconfirmedContainers() {
      let password =
        try await mayPrompt ? self.password(for: container, key: .sessionTransport) : nil
      do throws(SignetError) {
        try await device.finishActivation(of: container, by: password.map { .password($0) })
      } catch .containerUnknown {
        continue  // deleted
      } catch .lockedOut {
        continue  // deleted
      } catch .wiped {
        continue  // deleted
      } catch {
        let reason = TerminalText(describing: container.server.named(error), limit: 2000)
        arguments.errorOutput.print("signet: an activation is not confirmed yet: \(reason)")
      }
    }
    try await sendNotices(of: device, evenIfEarly: try await device.containers().isEmpty)
  }

  /// Sends queued notices to servers, and prints the result.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - isEarly: True to send before the retry delay has passed: without a container there may be no later command.
  /// - Throws: The vault's error.
  func sendNotices(of device: Device, evenIfEarly isEarly: Bool) async throws {
    let notices = try await device.sendQueuedNotices(evenIfEarly: isEarly)
    for notice in notices.delivered where notice.event != .wiped {
      arguments.errorOutput.print("signet: the server was notified of the end of \(notice.fullName)")
    }
    report(notices)
  }

  /// Prints the results of notices to servers, except those whose retry time has not come.
  ///
  /// - Parameters:
  ///   - notices: The results.
  ///   - goesOn: True if waiting notices are retried; otherwise the caller reports them.
  func report(_ notices: NoticeReport, goesOn: Bool = true) {
    let output = arguments.errorOutput
    for notice in notices.delivered where notice.event == .wiped {
      output.print(
        "signet: \(notice.fullName) was erased after too many wrong passwords; the server was notified")
    }
    for waiting in notices.waiting where goesOn {
      guard let failure = waiting.failure else { continue }
      let reason = TerminalText(describing: failure, limit: 2000)
      output.print(
        "signet: the server was not notified yet of the end of \(waiting.notice.fullName); signet tries again later: \(reason)"
      )
    }
    for notice in notices.expired {
      output.print(
        "signet: the server could not be notified of the end of \(notice.fullName); have its operator revoke the container"
      )
    }
  }
}

extension QueuedNotice {
  /// The name of its container for users.
  var fullName: String { "\(user) at \(server)" }
}

/// Asks at the terminal; without a terminal, the failure names the option that answers instead.
///
/// - Parameters:
///   - option: The option, as the user would type it.
///   - ask: Asks the question.
/// - Returns: The answer.
/// - Throws: The error of `ask`, and `CommandFailure` without a terminal.
func answering<Answer>(with option: String, _ ask: () async throws -> Answer) async throws -> Answer {
  do { return try await ask() } catch SecretInputFailure.noTerminal {
    throw CommandFailure(
      .usage, "there is no terminal for questions; run this in a terminal, or use \(ours: option)")
  }
}
