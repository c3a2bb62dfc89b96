/// What an authenticator app answers a message.
public enum PushAppDecision: Sendable {
  /// A yes, if the yes of an app does for what the transaction requires.
  case approved(if: @Sendable (TransactionRecord) -> Bool)
  /// A no, and why, where the user has not said that: ``EndRecord/wrongNumber``.
  case denied(because: String? = nil)
}
