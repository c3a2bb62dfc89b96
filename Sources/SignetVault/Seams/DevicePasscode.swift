public import SignetCrypto

/// Verifies the user's login secret for the device itself.
///
/// Like a ``BiometricGate``, it answers yes or no and keeps no key. Back ends: PAM on Linux, LocalAuthentication on Apple's
/// systems, `SimulatedPasscode` in tests.
public protocol DevicePasscode: Sendable {
  /// Returns the device's ability to verify a passcode.
  ///
  /// - Returns: Ready, or not capable. A system that is ready may still reject the account.
  func state() async -> DevicePasscodeState

  /// Verifies the passcode of the user's own account, and returns if it was right.
  ///
  /// Cancelling the task ends the conversation. The call throws ``DevicePasscodeFailure/cancelled`` when the system returns,
  /// which may take the few seconds by which the system delays a wrong answer.
  ///
  /// - Parameters:
  ///   - reason: The reason shown to the user.
  ///   - conversation: Prompts the user for the system's questions, in their order and any number of times.
  /// - Throws: ``DevicePasscodeFailure``.
  func verify(
    _ reason: String, conversation: any PasscodeConversation
  ) async throws(DevicePasscodeFailure)
}

/// The device's ability to verify a passcode.
public enum DevicePasscodeState: Hashable, Sendable {
  /// The system offers no way to verify it.
  case notCapable
  /// The system can verify it.
  case ready
}

/// The user interface of a verification: shows the system's messages and prompts for its questions.
public protocol PasscodeConversation: Sendable {
  /// Prompts the user.
  ///
  /// - Parameter prompt: The system's question.
  /// - Returns: The answer in UTF-8, which the caller wipes; `nil` cancels the verification.
  func answer(_ prompt: PasscodePrompt) async -> SecretBytes?

  /// Shows a message that needs no answer.
  ///
  /// - Parameter message: The message.
  func show(_ message: PasscodeMessage) async
}

/// A question of the system.
public struct PasscodePrompt: Hashable, Sendable {
  /// The app's reason for the verification.
  public let reason: String
  /// The system's text on one line: at most 512 characters, without terminal control characters or characters that change
  /// the text direction.
  public let text: String
  /// True if the answer may be visible while the user types it.
  public let echoes: Bool

  /// Creates a prompt; text from the system must be sanitised before.
  public init(reason: String, text: String, echoes: Bool) {
    self.reason = reason
    self.text = text
    self.echoes = echoes
  }
}

/// A message of the system.
public struct PasscodeMessage: Hashable, Sendable {
  /// The system's text, sanitised like that of a ``PasscodePrompt``.
  public let text: String
  /// True if the message reports an error.
  public let isError: Bool

  /// Creates a message; text from the system must be sanitised before.
  public init(text: String, isError: Bool) {
    self.text = text
    self.isError = isError
  }
}
