public import SignetCrypto
public import SignetPolicy

/// A question for a PIN or a password: a first one, the current one, or both the current and a new one.
public struct UAFCredentialRequest: Hashable, Sendable {
  /// The name of the user who owns the key.
  public let username: String
  /// The authenticator, of the kind `pin` or `password`.
  public let authenticator: UAFAuthenticator
  /// The reason why the last answer was rejected; `nil` for the first question.
  public let lastRecoverableError: UAFRecoverableError?
  /// The lock status after failed attempts.
  public let protectionStatus: LockStatus
  /// The transaction that the user confirms with the answer; the app has already shown it.
  public let transaction: UAFTransactionContent?

  /// Creates a question, for apps that test their screens.
  ///
  /// - Parameters:
  ///   - username: The name of the user who owns the key.
  ///   - authenticator: The authenticator.
  ///   - lastRecoverableError: The reason why the last answer was rejected.
  ///   - protectionStatus: The lock status after failed attempts.
  ///   - transaction: The transaction that the user confirms with the answer.
  public init(
    username: String, authenticator: UAFAuthenticator, lastRecoverableError: UAFRecoverableError? = nil,
    protectionStatus: LockStatus = .unlocked, transaction: UAFTransactionContent? = nil
  ) {
    (self.username, self.authenticator) = (username, authenticator)
    (self.lastRecoverableError, self.protectionStatus) = (lastRecoverableError, protectionStatus)
    self.transaction = transaction
  }
}

/// The current PIN or password together with the new one.
public struct UAFChangedCredential: Sendable {
  let present: SharedSecretBox
  let next: SharedSecretBox

  /// Creates a pair of credentials, both UTF-8 as typed.
  ///
  /// - Parameters:
  ///   - present: The current PIN or password.
  ///   - next: The new PIN or password.
  public init(from present: SharedSecretBox, to next: SharedSecretBox) {
    (self.present, self.next) = (present, next)
  }
}
