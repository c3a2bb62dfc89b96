import Signet
import SignetTerminal

extension DeviceOptions {
  /// Does what needs the user: with a finger or the device's passcode where one is enabled, and else with the password.
  ///
  /// `--password-fd` goes by the password alone. At a terminal one prompt takes both: a finger on the reader, or the password that is
  /// typed meanwhile. Whatever the finger or the passcode comes to, the password still works.
  ///
  /// - Parameters:
  ///   - container: What is opened.
  ///   - key: The key that is needed; `nil` for what the container's own policy protects.
  ///   - device: Where it is.
  ///   - purpose: What for, as the person will read it.
  ///   - operation: What to do; it may be tried once more in another way, if the first did not open anything.
  /// - Returns: What the operation returns.
  /// - Throws: What the operation throws, and `SecretInputFailure`.
  func authenticated<Value: Sendable>(
    _ container: Container, key: Key.Usage? = nil, on device: Device, to purpose: TerminalText,
    _ operation: @escaping @Sendable (Authentication?) async throws -> Value
  ) async throws -> Value {
    guard container.protection(of: key).passwordPolicy != nil else { return try await operation(nil) }
    if !arguments.isSet("password-fd"), SecretInput.terminal.isTerminal {
      let ways = try await device.enabledWays(of: container, key: key)
      if ways.contains(.biometrics), try await isReady(container, key, on: device) {
        let race = FingerOrPassword(
          title: container.title(of: key), purpose: purpose, output: arguments.errorOutput,
          operation: operation)
        switch try await race.run() {
        case .done(let value): return value
        case .typed(let password): return try await operation(.password(password))
        case .nothing: break
        }
      } else if ways.contains(.passcode),
        try await device.passcodeStatus(for: container, key: key) == .enabled
      {
        if let value = try await byPasscode(container.title(of: key), purpose, operation) { return value }
      }
    }
    try await requireTry(of: container, key, on: device)
    return try await operation(try await password(for: container, key: key).map { .password($0) })
  }

  /// Refuses where no password may be tried now, before one is asked for.
  ///
  /// - Throws: `SignetFailure`: `waiting`, `lockedOut` or `wiped`.
  func requireTry(of container: Container, _ key: Key.Usage?, on device: Device) async throws {
    let failure: SignetFailure
    switch try await device.lockStatus(of: container, key: key) {
    case .lockedOut: failure = .lockedOut
    case .lastAttemptFailed(let remaining, let wait) where wait > .zero:
      failure = .waiting(wait, remaining: remaining)
    default: return
    }
    if let key, container.hasOwnProtection(key) { throw SignetFailure.key(key, failure) }
    throw failure
  }

  /// Whether a finger would open the container now; where it would not any more, says why.
  private func isReady(_ container: Container, _ key: Key.Usage?, on device: Device) async throws -> Bool {
    let reason: TerminalText
    do throws(SignetFailure) {
      let status = try await device.biometricStatus(for: container, key: key)
      if status == .enabled { return true }
      reason = TerminalText(ours: status.description)
    } catch {
      guard error.isMendedByPassword else { throw error }
      reason = TerminalText(saidBy: error, limit: 1000)
    }
    arguments.errorOutput.print("Note: \(reason)")
    return false
  }

  /// - Returns: `nil` if the password is wanted.
  private func byPasscode<Value: Sendable>(
    _ title: String, _ purpose: TerminalText,
    _ operation: @Sendable (Authentication?) async throws -> Value
  ) async throws -> Value? {
    let output = arguments.errorOutput
    output.print(
      "\(purpose): enter the passcode of this device; Enter alone asks for the password of \(title, limit: 1000)."
    )
    let conversation = TerminalConversation(output: output)
    do {
      return try await operation(.passcode(reason: purpose.description, conversation: conversation))
    } catch let failure as SignetFailure where failure.isMendedByPassword {
      if let caught = conversation.failure { throw caught }
      if failure != .passcode(.cancelled) {
        output.print("Note: \(TerminalText(saidBy: failure, limit: 1000))")
      }
      return nil
    }
  }
}
