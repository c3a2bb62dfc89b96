/// How an attempt to use codes ended.
public enum CodeOutcome: Hashable, Sendable {
  /// The codes are good, and used up now.
  case accepted
  /// They are not: wrong, used before, or of nobody.
  case refused
  /// They were not tried: the address waits for so many seconds more.
  case waiting(seconds: Int64)
  /// They were not tried: too many were refused in a row.
  case locked
  /// Nothing was looked at: the API key is not good any more.
  case keyRevoked
}
