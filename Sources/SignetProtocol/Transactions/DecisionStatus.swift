/// The decisions that a user can make.
public enum DecisionStatus: String, Hashable, Sendable, CaseIterable {
  /// The user approves.
  case accepted
  /// The user declines.
  case denied
  /// The user did not start the transaction: another person did.
  case reported
}
