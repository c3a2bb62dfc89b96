public import SignetVault

/// A question for permission to show a fingerprint, face or device passcode prompt now.
public struct UAFPromptRequest: Hashable, Sendable {
  /// The name of the user who owns the key.
  public let username: String
  /// The authenticator, of the kind `fingerprint`, `face` or `devicePasscode`.
  public let authenticator: UAFAuthenticator
  /// The reason why the last prompt failed; `nil` for the first.
  public let lastRecoverableError: UAFRecoverableError?
  /// The transaction that the user confirms with the prompt; the app has already shown it.
  public let transaction: UAFTransactionContent?

  /// Creates a question, for apps that test their screens.
  ///
  /// - Parameters:
  ///   - username: The name of the user who owns the key.
  ///   - authenticator: The authenticator.
  ///   - lastRecoverableError: The reason why the last prompt failed.
  ///   - transaction: The transaction that the user confirms with the prompt.
  public init(
    username: String, authenticator: UAFAuthenticator, lastRecoverableError: UAFRecoverableError? = nil,
    transaction: UAFTransactionContent? = nil
  ) {
    (self.username, self.authenticator) = (username, authenticator)
    (self.lastRecoverableError, self.transaction) = (lastRecoverableError, transaction)
  }
}

/// The texts of a fingerprint or face prompt.
public struct UAFBiometricPrompt: Sendable {
  let reason: String
  let hints: @Sendable (BiometricHint) -> Void

  /// Creates the texts.
  ///
  /// - Parameters:
  ///   - reason: The reason that the prompt shows to the user.
  ///   - hints: Receives hints to show while the sensor waits.
  public init(reason: String, hints: @escaping @Sendable (BiometricHint) -> Void = { _ in }) {
    (self.reason, self.hints) = (reason, hints)
  }
}

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
