import Signet
import SignetJSON
import SignetTerminal

extension Command {
  static let password = Command(
    "password", "Change or check the password of a container or of one of its keys",
    commands: [
      Command(
        "change", "Change the password",
        description: """
          If the current password is younger than the policy allows, the command says so first. It then asks for the \
          current password; a wrong one counts as a failed attempt. The new password must meet the rules of the \
          server; a change that is refused or interrupted leaves the current password as it is. With --password-fd the \
          first line is the current password and the second the new one.
          """, options: [ContainerChoice.option, KeyChoice.option]
      ) { arguments in
        arguments.report(try await changed(arguments))
        return .success
      },
      Command(
        "verify", "Check whether the password is right",
        description: "A wrong password counts as a failed attempt.",
        options: [ContainerChoice.option, KeyChoice.option]
      ) { arguments in
        try await verify(arguments)
        arguments.report("The password is right.", ["right": .bool(true)])
        return .success
      },
    ])

  static let recovery = Command(
    "recovery", "Make and use a recovery code for a forgotten password",
    commands: [
      Command(
        "create", "Make a recovery code and show it, once",
        description: """
          Print it, or write it down, and store it away from this device. It sets a new password if the current one is \
          forgotten or locked: on this device only if hardware such as a TPM protects the keys, otherwise also \
          wherever the files of this device are copied to. An earlier code is invalid from then on.
          """, options: [ContainerChoice.option, KeyChoice.option]
      ) { arguments in
        let code = try await createCode(arguments)
        if arguments.output.isTerminal {
          arguments.errorOutput.print(
            "The code is shown only once: print it or write it down. An earlier code is now invalid.")
        }
        arguments.report("\(ours: code.text)", ["code": .string(code.text)])
        return .success
      },
      Command(
        "reset", "Set a new password with the recovery code",
        description: "With --password-fd the first line is the code and the second the new password.",
        options: [ContainerChoice.option, KeyChoice.option]
      ) { arguments in
        arguments.report(try await reset(arguments))
        return .success
      },
    ])

  // Functions that ask for secrets return before any output, so that the secrets are wiped by then.

  private static func changed(_ arguments: Arguments) async throws -> PasswordChangeOutcome {
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    let container = try await ContainerChoice.container(arguments, of: device)
    let key = try KeyChoice.key(arguments, of: container)
    let protection = container.protection(of: key)
    guard let policy = protection.passwordPolicy else { throw noPassword }
    try await options.requireTry(of: container, key, on: device)
    if let until = try await device.earliestPasswordChange(of: container, key: key) {
      throw CommandFailure(
        .dataError,
        "the password was changed not long ago; change it again from \(ours: Moment.text(until)) on")
    }
    guard let old = try await options.password(for: container, key: key) else { throw noPassword }
    if protection.lockPolicy != .silent {
      try await device.tryPresentPassword(old, of: container, key: key)
    }
    let new = try await options.newPassword(for: key, under: policy, protection.lockPolicy, .change)
    return try await device.changePassword(of: container, key: key, from: old, to: new)
  }

  private static func verify(_ arguments: Arguments) async throws {
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    let container = try await ContainerChoice.container(arguments, of: device)
    let key = try KeyChoice.key(arguments, of: container)
    guard let password = try await options.password(for: container, key: key) else { throw noPassword }
    guard container.protection(of: key).lockPolicy != .silent else {
      throw CommandFailure(
        .dataError, "only the server can verify this password; use it to find out")
    }
    try await device.verify(.password(password), for: container, key: key)
  }

  private static func createCode(_ arguments: Arguments) async throws -> RecoveryCode {
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    let container = try await ContainerChoice.container(arguments, of: device)
    let key = try KeyChoice.key(arguments, of: container)
    guard let password = try await options.password(for: container, key: key) else { throw noPassword }
    return try await device.makeRecoveryCode(for: container, key: key, password: password)
  }

  private static func reset(_ arguments: Arguments) async throws -> PasswordChangeOutcome {
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    let container = try await ContainerChoice.container(arguments, of: device)
    let key = try KeyChoice.key(arguments, of: container)
    guard let policy = container.protection(of: key).passwordPolicy else { throw noPassword }
    // Throws first if the object was erased: no recovery code helps then.
    _ = try await device.lockStatus(of: container, key: key)
    guard try await device.hasRecoveryCode(for: container, key: key) else {
      throw CommandFailure(
        .dataError,
        "no recovery code was made since the keys were last made (signet recovery create); ask for a new activation code"
      )
    }
    let code = try await options.recoveryCode()
    let new = try await options.newPassword(
      for: key, under: policy, container.protection(of: key).lockPolicy, .change)
    return try await device.resetPassword(of: container, key: key, with: code, to: new)
  }

  private static var noPassword: CommandFailure {
    CommandFailure(.dataError, "this container has no password; the device alone protects it")
  }
}

extension DeviceOptions {
  fileprivate func recoveryCode() async throws -> RecoveryCode {
    try await answering(with: Self.passwordOption) {
      try await arguments.secretInput("password-fd").read("Recovery code: ") { bytes in
        do throws(CrockfordBase32Failure) {
          return try RecoveryCode(
            SecretBytes(copying: bytes).withTemporaryArray { String(decoding: $0, as: UTF8.self) })
        } catch { throw CommandFailure(.dataError, TerminalText(ours: error.description)) }
      }
    }
  }
}

extension Arguments {
  /// Reports the change of a password, and any remaining problem.
  fileprivate func report(_ outcome: PasswordChangeOutcome) {
    report("The password was changed.", ["changed": .bool(true)])
    warn(of: outcome)
  }

  /// Warns of the remaining problem after a password change.
  func warn(of outcome: PasswordChangeOutcome) {
    guard case .uncounted(let failure) = outcome else { return }
    let reason = TerminalText(describing: failure, limit: 2000)
    errorOutput.print(
      "signet: until the next use of signet, an older copy of the data folder can be opened with the previous password: \(reason)"
    )
  }

  func report(_ sentence: TerminalText, _ object: JSONObject) {
    if isSet("json") { output.print(json: JSONValue.object(object).text) } else { output.print(sentence) }
  }
}
