/// The answer to a push message.
public enum PushDecision: Sendable, Hashable {
  /// Approval; if the server demands it, the device first verifies its user.
  case approve
  /// Approval with the number that the sign-in page shows.
  case number(String)
  /// Denial.
  case deny
}
