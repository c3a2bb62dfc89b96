/// The question whether the device may ask for a finger, a face or its passcode now.
public struct UAFPromptRequest: Hashable, Sendable {
  /// Whose key is used.
  public let username: String
  /// The authenticator: of the kind `fingerprint`, `face` or `devicePasscode`.
  public let authenticator: UAFAuthenticator
  /// Why the last prompt was of no use; `nil` for the first.
  public let lastRecoverableError: UAFRecoverableError?
  /// What the person confirms by it; it was shown before.
  public let transaction: UAFTransactionContent?

  /// Describes the question; for apps that test their screens.
  ///
  /// - Parameters:
  ///   - username: Whose key is used.
  ///   - authenticator: The authenticator.
  ///   - lastRecoverableError: Why the last prompt was of no use.
  ///   - transaction: What the person confirms by it.
  public init(
    username: String, authenticator: UAFAuthenticator, lastRecoverableError: UAFRecoverableError? = nil,
    transaction: UAFTransactionContent? = nil
  ) {
    (self.username, self.authenticator) = (username, authenticator)
    (self.lastRecoverableError, self.transaction) = (lastRecoverableError, transaction)
  }
}
