public import SignetCrypto
public import SignetVault
import Synchronization

/// A device whose passcode a test sets; it asks for it with one prompt.
public final class SimulatedPasscode: DevicePasscode {
  private struct Values: Sendable {
    var passcode: String?
    var failures: [DevicePasscodeFailure] = []
  }

  private let values: Mutex<Values>

  /// Creates a device with a passcode; nil for a device without one.
  public init(_ passcode: String?) { values = Mutex(Values(passcode: passcode)) }

  /// Changes or removes the passcode.
  public func set(_ passcode: String?) { values.withLock { $0.passcode = passcode } }

  /// Makes the next checks fail, in order, before any prompt.
  public func queue(_ failures: DevicePasscodeFailure...) { values.withLock { $0.failures += failures } }

  /// Returns `ready` if there is a passcode.
  public func state() async -> DevicePasscodeState {
    values.withLock { $0.passcode == nil ? .notCapable : .ready }
  }

  /// Asks once and compares.
  ///
  /// - Throws: The queued failure, `notCapable` without a passcode, `cancelled` without an answer, otherwise `mismatch`.
  public func verify(
    _ reason: String, conversation: any PasscodeConversation
  ) async throws(DevicePasscodeFailure) {
    let (passcode, failure) = values.withLock { values in
      (values.passcode, values.failures.isEmpty ? nil : values.failures.removeFirst())
    }
    if let failure { throw failure }
    guard let passcode else { throw .notCapable }
    let prompt = PasscodePrompt(reason: reason, text: "Password: ", echoes: false)
    guard let answer = await conversation.answer(prompt), !Task.isCancelled else { throw .cancelled }
    guard answer.isEqual(to: SecretBytes(copying: Array(passcode.utf8))) else { throw .mismatch }
  }
}

/// A simulated user with scripted answers that records all prompts and messages.
public final class ScriptedPasscodeConversation: PasscodeConversation {
  /// A prompt or a message.
  public enum Exchange: Hashable, Sendable {
    /// A prompt.
    case prompt(PasscodePrompt)
    /// A message.
    case message(PasscodeMessage)
  }

  private struct Values: Sendable {
    var answers: [String?]
    var exchanges: [Exchange] = []
  }

  private let values: Mutex<Values>

  /// Creates a user who gives these answers, in order; nil, and every answer after the last, cancels the check.
  public init(_ answers: String?...) { values = Mutex(Values(answers: answers)) }

  /// The prompts and messages so far.
  public var exchanges: [Exchange] { values.withLock { $0.exchanges } }

  /// Returns the next answer.
  public func answer(_ prompt: PasscodePrompt) async -> SecretBytes? {
    let answer = values.withLock { values -> String? in
      values.exchanges.append(.prompt(prompt))
      return values.answers.isEmpty ? nil : values.answers.removeFirst()
    }
    guard let answer else { return nil }
    return SecretBytes(copying: Array(answer.utf8))
  }

  /// Records the message.
  public func show(_ message: PasscodeMessage) async {
    values.withLock { $0.exchanges.append(.message(message)) }
  }
}
