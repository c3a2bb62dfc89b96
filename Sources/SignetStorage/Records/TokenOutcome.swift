/// The outcome of a change of a token.
public enum TokenOutcome: Hashable, Sendable {
  /// It was changed.
  case done
  /// There is no token with this serial number.
  case unknownToken
  /// There is no such user.
  case unknownUser
}
