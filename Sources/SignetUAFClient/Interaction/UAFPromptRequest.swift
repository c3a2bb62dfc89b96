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
