/// What to answer to a push message.
public enum PushDecision: Sendable, Hashable {
  /// Yes; where the server demands it, after this device has recognised its user.
  case approve
  /// Yes, with the number that the sign-in shows.
  case number(String)
  /// No.
  case deny
}
