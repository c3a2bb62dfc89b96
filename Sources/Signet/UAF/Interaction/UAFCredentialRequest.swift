public import SignetPolicy

/// The question for a PIN or a password: a first one, the present one, or both the present one and the next.
public struct UAFCredentialRequest: Hashable, Sendable {
  /// Whose it is.
  public let username: String
  /// The authenticator: of the kind `pin` or `password`.
  public let authenticator: UAFAuthenticator
  /// Why the last answer was of no use; `nil` for the first question.
  public let lastRecoverableError: UAFRecoverableError?
  /// What wrong tries have led to.
  public let protectionStatus: LockStatus
  /// What the person confirms by it; it was shown before.
  public let transaction: UAFTransactionContent?

  /// Describes the question; for apps that test their screens.
  ///
  /// - Parameters:
  ///   - username: Whose it is.
  ///   - authenticator: The authenticator.
  ///   - lastRecoverableError: Why the last answer was of no use.
  ///   - protectionStatus: What wrong tries have led to.
  ///   - transaction: What the person confirms by it.
  public init(
    username: String, authenticator: UAFAuthenticator, lastRecoverableError: UAFRecoverableError? = nil,
    protectionStatus: LockStatus = .unlocked, transaction: UAFTransactionContent? = nil
  ) {
    (self.username, self.authenticator) = (username, authenticator)
    (self.lastRecoverableError, self.protectionStatus) = (lastRecoverableError, protectionStatus)
    self.transaction = transaction
  }
}
