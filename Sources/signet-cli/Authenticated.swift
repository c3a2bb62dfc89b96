import Signet
import SignetTerminal

extension DeviceOptions {
  /// Runs an operation that needs the user: with a fingerprint or the device's passcode if one is enabled, otherwise with
  /// the password.
  ///
  /// `--password-fd` uses only the password. At a terminal one prompt accepts both: a finger on the reader, or a typed
  /// password. If the fingerprint or the passcode fails, the password still works.
  ///
  /// - Parameters:
  ///   - container: The container to open.
  ///   - key: The key that is needed; `nil` for data under the container's own policy.
  ///   - device: The device with the container.
  ///   - purpose: The purpose, as shown to the user.
  ///   - operation: The operation; it may run a second time with another authentication if the first did not open anything.
  /// - Returns: The result of the operation.
  /// - Throws: The error of the operation, and `SecretInputFailure`.
  func authenticated<Value: Sendable>(
    _ container: Container, key: Key.Usage? = nil, on device: Device, to purpose: TerminalText,
    _ operation: @escaping @Sendable (Authentication?) async throws -> Value
  ) async throws -> Value {
    guard container.protection(of: key).passwordPolicy != nil else { return try await operation(nil) }
    if !arguments.isSet("password-fd"), SecretInput.terminal.isTerminal {
      let methods = try await device.enabledUnlockMethods(of: container, key: key)
      if methods.contains(.biometrics), try await isReady(container, key, on: device) {
        let race = UnlockPrompt(
          title: container.title(of: key), purpose: purpose, output: arguments.errorOutput,
          operation: operation)
        switch try await race.run() {
        case .done(let value): return value
        case .typed(let password): return try await operation(.password(password))
        case .nothing: break
        }
      } else if methods.contains(.passcode),
        try await device.passcodeStatus(for: container, key: key) == .enabled
      {
        if let value = try await byPasscode(container.title(of: key), purpose, operation) { return value }
      }
    }
    try await requireTry(of: container, key, on: device)
    return try await operation(try await password(for: container, key: key).map { .password($0) })
  }

  /// Throws if no password attempt is allowed now, before the user is asked for one.
  ///
  /// - Throws: `SignetError`: `waiting`, `lockedOut` or `wiped`.
  func requireTry(of container: Container, _ key: Key.Usage?, on device: Device) async throws {
    let failure: SignetError
    switch try await device.lockStatus(of: container, key: key) {
    case .lockedOut: failure = .lockedOut
    case .lastAttemptFailed(let remaining, let wait) where wait > .zero:
      failure = .waiting(wait, remaining: remaining)
    default: return
    }
    if let key, container.hasOwnProtection(key) { throw SignetError.key(key, failure) }
    throw failure
  }

  /// Returns true if a fingerprint can open the container now; prints the reason if it no longer can.
  private func isReady(_ container: Container, _ key: Key.Usage?, on device: Device) async throws -> Bool {
    let reason: TerminalText
    do throws(SignetError) {
      let status = try await device.biometricStatus(for: container, key: key)
      if status == .enabled { return true }
      reason = TerminalText(ours: status.description)
    } catch {
      guard error.canFallBackToPassword else { throw error }
      reason = TerminalText(describing: error, limit: 1000)
    }
    arguments.errorOutput.print("Note: \(reason)")
    return false
  }

  /// - Returns: `nil` if the user chooses the password.
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
    } catch let failure as SignetError where failure.canFallBackToPassword {
      if let caught = conversation.failure { throw caught }
      if failure != .passcode(.cancelled) {
        output.print("Note: \(TerminalText(describing: failure, limit: 1000))")
      }
      return nil
    }
  }
}
