/// The question which authenticator is used; asked also where there is one alone.
public struct UAFAuthenticatorSelection: Hashable, Sendable {
  /// Whom it is for.
  public let account: UAFAccount
  /// All authenticators of this device, in the order that the server prefers; those of no use say why.
  public let choices: [UAFAuthenticatorChoice]
  /// What the person is asked to confirm; show it before they go on.
  public let transaction: UAFTransactionContent?

  /// Describes the question; for apps that test their screens.
  ///
  /// - Parameters:
  ///   - account: Whom it is for.
  ///   - choices: All authenticators.
  ///   - transaction: What is to be confirmed.
  public init(
    account: UAFAccount, choices: [UAFAuthenticatorChoice], transaction: UAFTransactionContent? = nil
  ) {
    (self.account, self.choices, self.transaction) = (account, choices, transaction)
  }

  /// Whether the server takes an authenticator.
  public func isPolicyCompliant(_ aaid: String) -> Bool {
    choices.contains { $0.authenticator.isModel(aaid) && $0.isPolicyCompliant }
  }
}
