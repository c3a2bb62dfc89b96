public import SignetCrypto

/// What checks the secret with which the user logs in to the device itself.
///
/// Like a ``BiometricGate`` it says yes or no and keeps no key. Back ends: PAM on Linux, LocalAuthentication on Apple's
/// systems, `SimulatedPasscode` in tests.
public protocol DevicePasscode: Sendable {
  /// Whether the device can be asked at all.
  ///
  /// - Returns: Ready, or not capable. A system that is ready may still refuse the account.
  func state() async -> DevicePasscodeState

  /// Checks the passcode of the user's own account, and returns when it was right.
  ///
  /// Cancelling the task ends the conversation; the call throws ``DevicePasscodeFailure/cancelled`` as soon as the system
  /// lets go, which may take the few seconds by which it delays a wrong answer.
  ///
  /// - Parameters:
  ///   - reason: Why, as the person will read it.
  ///   - conversation: Who asks the person what the system wants to know: as often as it wants, in its order.
  /// - Throws: ``DevicePasscodeFailure``.
  func verify(
    _ reason: String, conversation: any PasscodeConversation
  ) async throws(DevicePasscodeFailure)
}

/// Whether the device can check a passcode.
public enum DevicePasscodeState: Hashable, Sendable {
  /// The system offers no way to check it.
  case notCapable
  /// It can be asked.
  case ready
}

/// The person's side of a check: shows what the system says and fetches what it asks.
public protocol PasscodeConversation: Sendable {
  /// Asks the person.
  ///
  /// - Parameter prompt: What to ask.
  /// - Returns: The answer in UTF-8, wiped by the caller; nil to call the check off.
  func answer(_ prompt: PasscodePrompt) async -> SecretBytes?

  /// Shows a message; there is no answer.
  ///
  /// - Parameter message: What to show.
  func show(_ message: PasscodeMessage) async
}

/// One question of the system.
public struct PasscodePrompt: Hashable, Sendable {
  /// Why the app wants to know, as it said.
  public let reason: String
  /// The system's words in one line: at most 512 characters, without any that a terminal would act on or that turn the
  /// direction of text.
  public let text: String
  /// Whether the answer may be seen while it is typed.
  public let echoes: Bool

  /// A question; what comes from the system is made harmless before it gets here.
  public init(reason: String, text: String, echoes: Bool) {
    self.reason = reason
    self.text = text
    self.echoes = echoes
  }
}

/// One statement of the system.
public struct PasscodeMessage: Hashable, Sendable {
  /// The system's words, as harmless as those of a ``PasscodePrompt``.
  public let text: String
  /// Whether it tells of an error.
  public let isError: Bool

  /// A statement; what comes from the system is made harmless before it gets here.
  public init(text: String, isError: Bool) {
    self.text = text
    self.isError = isError
  }
}
