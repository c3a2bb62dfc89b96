/// A question for the authenticator to use, put even if there is only one.
public struct UAFAuthenticatorSelection: Hashable, Sendable {
  /// The account that the operation is for.
  public let account: UAFAccount
  /// All authenticators of this device, in the server's order of preference; one that cannot be chosen has an obstacle.
  public let choices: [UAFAuthenticatorChoice]
  /// The transaction to confirm; show it before the user continues.
  public let transaction: UAFTransactionContent?

  /// Creates a question, for apps that test their screens.
  ///
  /// - Parameters:
  ///   - account: The account that the operation is for.
  ///   - choices: All authenticators of this device.
  ///   - transaction: The transaction to confirm.
  public init(
    account: UAFAccount, choices: [UAFAuthenticatorChoice], transaction: UAFTransactionContent? = nil
  ) {
    self.account = account
    self.choices = choices
    self.transaction = transaction
  }

  /// Returns whether the server's policy accepts the authenticator with an AAID.
  public func isPolicyCompliant(_ aaid: String) -> Bool {
    choices.contains { $0.authenticator.isModel(aaid) && $0.isPolicyCompliant }
  }
}
