/// What an authenticator app answers a message.
public enum PushAppDecision: Sendable {
  /// Approved, if an app's approval meets what the transaction requires.
  case approved(if: @Sendable (TransactionRecord) -> Bool)
  /// Denied; the reason where it is not the user's: ``EndRecord/wrongNumber``.
  case denied(because: String? = nil)
}
