public import SignetVault

/// The reason and the conversation of a device passcode prompt.
public struct UAFPasscodePrompt: Sendable {
  let reason: String
  let conversation: any PasscodeConversation

  /// Creates a prompt.
  ///
  /// - Parameters:
  ///   - reason: The reason that the prompt shows to the user.
  ///   - conversation: Puts the system's questions to the user.
  public init(reason: String, conversation: any PasscodeConversation) {
    (self.reason, self.conversation) = (reason, conversation)
  }
}
