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

  /// A device with a passcode; nil for one that has none.
  public init(_ passcode: String?) { values = Mutex(Values(passcode: passcode)) }

  /// Changes the passcode, or takes it away.
  public func set(_ passcode: String?) { values.withLock { $0.passcode = passcode } }

  /// Has the next checks fail, in order, before anything is asked.
  public func queue(_ failures: DevicePasscodeFailure...) { values.withLock { $0.failures += failures } }

  /// Ready if there is a passcode.
  public func state() async -> DevicePasscodeState {
    values.withLock { $0.passcode == nil ? .notCapable : .ready }
  }

  /// Asks once and compares.
  ///
  /// - Throws: What the test queued, `notCapable` without a passcode, `cancelled` without an answer, else `mismatch`.
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

/// A person who answers as a test says, and remembers what was shown.
public final class ScriptedPasscodeConversation: PasscodeConversation {
  /// What was asked and shown, in order.
  public enum Exchange: Hashable, Sendable {
    /// A question.
    case prompt(PasscodePrompt)
    /// A statement.
    case message(PasscodeMessage)
  }

  private struct Values: Sendable {
    var answers: [String?]
    var exchanges: [Exchange] = []
  }

  private let values: Mutex<Values>

  /// Gives these answers, in order; nil, and every one after the last, calls the check off.
  public init(_ answers: String?...) { values = Mutex(Values(answers: answers)) }

  /// What was asked and shown so far.
  public var exchanges: [Exchange] { values.withLock { $0.exchanges } }

  /// The next answer.
  public func answer(_ prompt: PasscodePrompt) async -> SecretBytes? {
    let answer = values.withLock { values -> String? in
      values.exchanges.append(.prompt(prompt))
      return values.answers.isEmpty ? nil : values.answers.removeFirst()
    }
    guard let answer else { return nil }
    return SecretBytes(copying: Array(answer.utf8))
  }

  /// Remembers the message.
  public func show(_ message: PasscodeMessage) async {
    values.withLock { $0.exchanges.append(.message(message)) }
  }
}
