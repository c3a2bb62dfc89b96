/// A question for the account to use, put if the server's request does not name one.
public struct UAFAccountSelection: Sendable {
  /// The accounts of this device at the server.
  public let accounts: [UAFAccount]
  /// The transaction to confirm; show it before the user continues.
  public let transaction: UAFTransactionContent?
  let compliant: @Sendable (_ username: String, _ aaid: String) -> Bool

  /// Creates a question, for apps that test their screens.
  ///
  /// - Parameters:
  ///   - accounts: The accounts.
  ///   - transaction: The transaction to confirm.
  ///   - isPolicyCompliant: Returns true if the server's policy accepts an authenticator for a user.
  public init(
    accounts: [UAFAccount], transaction: UAFTransactionContent? = nil,
    isPolicyCompliant: @escaping @Sendable (_ username: String, _ aaid: String) -> Bool
  ) {
    self.accounts = accounts
    self.transaction = transaction
    compliant = isPolicyCompliant
  }

  /// Returns whether the server's policy accepts an authenticator for a user.
  ///
  /// - Parameters:
  ///   - username: The user's name.
  ///   - aaid: The AAID of the authenticator.
  /// - Returns: True if the policy accepts it.
  public func isPolicyCompliant(_ username: String, _ aaid: String) -> Bool { compliant(username, aaid) }
}
