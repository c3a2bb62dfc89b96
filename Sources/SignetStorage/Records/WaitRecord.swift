/// How long an address has to wait before it may try a user's codes again.
public struct WaitRecord: Hashable, Sendable {
  /// Refused attempts in a row, for this user from this address.
  public var failures: Int
  /// When the next attempt is tried.
  public var until: Int64
  /// When this may be forgotten.
  public var expires: Int64

  /// Describes a wait.
  ///
  /// - Parameters:
  ///   - failures: Refused attempts in a row.
  ///   - until: When the next attempt is tried.
  ///   - expires: When this may be forgotten.
  public init(failures: Int, until: Int64, expires: Int64) {
    (self.failures, self.until, self.expires) = (failures, until, expires)
  }
}
