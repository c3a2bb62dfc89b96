/// The question which account is meant, where the server does not say.
public struct UAFAccountSelection: Sendable {
  /// The accounts on this device at that server.
  public let accounts: [UAFAccount]
  /// What the person is asked to confirm; show it before they go on.
  public let transaction: UAFTransactionContent?
  let compliant: @Sendable (_ username: String, _ aaid: String) -> Bool

  /// Describes the question; for apps that test their screens.
  ///
  /// - Parameters:
  ///   - accounts: The accounts.
  ///   - transaction: What is to be confirmed.
  ///   - isPolicyCompliant: Whether the server takes an authenticator for a user.
  public init(
    accounts: [UAFAccount], transaction: UAFTransactionContent? = nil,
    isPolicyCompliant: @escaping @Sendable (_ username: String, _ aaid: String) -> Bool
  ) {
    (self.accounts, self.transaction, compliant) = (accounts, transaction, isPolicyCompliant)
  }

  /// Whether the server takes an authenticator for a user.
  ///
  /// - Parameters:
  ///   - username: The user.
  ///   - aaid: The authenticator.
  /// - Returns: Whether it does.
  public func isPolicyCompliant(_ username: String, _ aaid: String) -> Bool { compliant(username, aaid) }
}
