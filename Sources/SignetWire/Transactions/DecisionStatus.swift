/// What a user may decide.
public enum DecisionStatus: String, Hashable, Sendable, CaseIterable {
  /// The user wants it.
  case accepted
  /// The user does not want it.
  case denied
  /// The user did not ask for it: somebody else did.
  case reported
}
