import Signet
import SignetTerminal
import Synchronization

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
    _ container: Container, key: Key.Usage? = nil, on device: Device, to purpose: String,
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
    let reason: String
    do throws(SignetFailure) {
      let status = try await device.biometricStatus(for: container, key: key)
      if status == .enabled { return true }
      reason = status.description
    } catch {
      guard error.isMendedByPassword else { throw error }
      reason = error.description
    }
    arguments.errorOutput.print(TerminalText.sanitised("Note: \(reason)", limit: 1000))
    return false
  }

  /// - Returns: `nil` if the password is wanted.
  private func byPasscode<Value: Sendable>(
    _ title: String, _ purpose: String,
    _ operation: @Sendable (Authentication?) async throws -> Value
  ) async throws -> Value? {
    let output = arguments.errorOutput
    output.print(
      "\(purpose): enter the passcode of this device; Enter alone asks for the password of "
        + "\(TerminalText.sanitised(title, limit: 1000)).")
    let conversation = TerminalConversation(output: output)
    do {
      return try await operation(.passcode(reason: purpose, conversation: conversation))
    } catch let failure as SignetFailure where failure.isMendedByPassword {
      if let caught = conversation.failure { throw caught }
      if failure != .passcode(.cancelled) {
        output.print(TerminalText.sanitised("Note: \(failure.description)", limit: 1000))
      }
      return nil
    }
  }
}

/// One prompt that takes a finger or a password, whichever comes first.
private struct FingerOrPassword<Value: Sendable>: Sendable {
  let title: String
  let purpose: String
  let output: Terminal
  let operation: @Sendable (Authentication?) async throws -> Value

  enum Outcome: Sendable {
    case done(Value)
    case typed(SharedSecretBox)
    /// Enter alone.
    case nothing
  }

  private enum Event: Sendable {
    case opened(Value)
    case failed(any Error)
    case typed(SharedSecretBox)
    case notTyped(any Error)
  }

  /// What is shown under the prompt.
  private final class Words: Sendable {
    private let text = Mutex("")
    var current: String { text.withLock { $0 } }
    func set(_ words: String) { text.withLock { $0 = words } }
  }

  func run() async throws -> Outcome {
    let words = Words()
    let note = PromptNote { _ in words.current }
    let (purpose, operation) = (purpose, operation)
    let prompt =
      "\(purpose): touch the fingerprint reader, or type the password for "
      + "\(TerminalText.sanitised(title, limit: 1000)): "
    return try await withThrowingTaskGroup(of: Event.self) { group in
      group.addTask {
        let hints: @Sendable (BiometricHint) -> Void = { hint in
          words.set(hint.words)
          note.refresh()
        }
        do { return .opened(try await operation(.biometrics(reason: purpose, hints: hints))) } catch {
          return .failed(error)
        }
      }
      group.addTask {
        do {
          return .typed(
            try await SecretInput.terminal.read(prompt, note: note) {
              SharedSecretBox(SecretBytes(copying: $0))
            })
        } catch { return .notTyped(error) }
      }
      return try await decide(&group, words, note)
    }
  }

  /// Waits for what comes first, ends the other, and waits for that too.
  private func decide(
    _ group: inout ThrowingTaskGroup<Event, any Error>, _ words: Words, _ note: PromptNote
  ) async throws -> Outcome {
    var typed: SharedSecretBox?
    var stop: (any Error)?
    while let event = try await group.next() {
      switch event {
      case .opened(let value):
        // Also where a password was typed at the same moment: what is done is not done twice.
        group.cancelAll()
        _ = try await group.next()
        return .done(value)
      case .failed(let error):
        guard let failure = error as? SignetFailure, failure.isMendedByPassword else {
          group.cancelAll()
          _ = try await group.next()
          throw error
        }
        // Perhaps somebody is typing: the prompt stays.
        words.set("\(failure)")
        note.refresh()
        if !PromptNote.isShown { output.print("\n\(TerminalText.sanitised("\(failure)", limit: 1000))") }
      case .typed(let password):
        typed = password
        group.cancelAll()
      case .notTyped(let error):
        stop = error
        group.cancelAll()
      }
    }
    if let stop { throw stop }
    guard let typed, typed.withSecret({ $0.byteCount }) > 0 else { return .nothing }
    return .typed(typed)
  }
}

extension BiometricHint {
  /// What the person should see.
  fileprivate var words: String {
    switch self {
    case .touchSensor: "The reader is on."
    case .swipeSensor: "The reader is on: draw your finger over it."
    case .tryAgain: "The reader could not read that; once more."
    case .swipeTooShort: "That was too short; draw your finger over it once more."
    case .notCentred: "The finger was not in the middle; once more."
    case .liftAndTryAgain: "Lift your finger, then once more."
    case .notRecognised(let remaining):
      "The finger was not recognised; \(remaining) \(remaining == 1 ? "try is" : "tries are") left."
    }
  }
}

/// The questions of the device's own check, at the terminal.
private final class TerminalConversation: PasscodeConversation {
  private let output: Terminal
  private let caught = Mutex<(any Error)?>(nil)

  init(output: Terminal) { self.output = output }

  /// Why nothing could be read, if so.
  var failure: (any Error)? { caught.withLock { $0 } }

  func answer(_ prompt: PasscodePrompt) async -> SecretBytes? {
    do {
      if prompt.echoes {
        let line = try await Question.terminal.line(prompt.text)
        return line.isEmpty ? nil : SecretBytes(copying: Array(line.utf8))
      }
      let answer = try await SecretInput.terminal.read(prompt.text) { SecretBytes(copying: $0) }
      if answer.byteCount == 0 { return nil }
      return answer
    } catch {
      caught.withLock { $0 = error }
      return nil
    }
  }

  func show(_ message: PasscodeMessage) async { output.print(message.text) }
}
