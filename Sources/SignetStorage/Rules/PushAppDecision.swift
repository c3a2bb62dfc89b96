/// The answer of an authenticator app to a message.
public enum PushAppDecision: Sendable {
  /// Approved, if an app's approval meets the requirements of the transaction.
  case approved(if: @Sendable (TransactionRecord) -> Bool)
  /// Denied; the reason if the user did not deny it: ``EndRecord/wrongNumber``.
  case denied(because: String? = nil)
}
