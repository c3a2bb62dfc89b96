public import SignetVault

/// How the device asks for its passcode.
public struct UAFPasscodePrompt: Sendable {
  let reason: String
  let conversation: any PasscodeConversation

  /// Sets what the person reads, and who asks them.
  ///
  /// - Parameters:
  ///   - reason: Why they are asked.
  ///   - conversation: Asks what the system wants to know.
  public init(reason: String, conversation: any PasscodeConversation) {
    (self.reason, self.conversation) = (reason, conversation)
  }
}
