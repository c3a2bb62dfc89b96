/// How a change of a token ended.
public enum TokenOutcome: Hashable, Sendable {
  /// It is done.
  case done
  /// There is no token of this serial number.
  case unknownToken
  /// There is no such user.
  case unknownUser
}
