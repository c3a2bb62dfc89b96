/// The waiting time of an address before its next attempt with a user's codes.
public struct WaitRecord: Hashable, Sendable {
  /// The number of consecutive rejected attempts for this user from this address.
  public var failures: Int
  /// The time from which the next attempt is evaluated, in seconds since 1970.
  public var until: Int64
  /// The time from which the record may be removed, in seconds since 1970.
  public var expires: Int64

  /// Describes a waiting time.
  public init(failures: Int, until: Int64, expires: Int64) {
    self.failures = failures
    self.until = until
    self.expires = expires
  }
}
