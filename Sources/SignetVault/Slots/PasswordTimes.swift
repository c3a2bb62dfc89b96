package import SignetPolicy

/// The times of a password, by a wall clock that can be set back.
package struct PasswordTimes: Sendable, Hashable {
  package var stamp: PasswordStamp
  /// The latest time that the vault has seen since, in seconds since 1970-01-01T00:00:00Z.
  package var seenAt: Int64

  package init(stamp: PasswordStamp, seenAt: Int64) {
    self.stamp = stamp
    self.seenAt = seenAt
  }

  /// Creates the times of a password that is set now.
  init(setAt now: Int64, isInitial: Bool) {
    self.init(stamp: PasswordStamp(setAt: now, isInitial: isInitial), seenAt: now)
  }

  /// The current time: the clock's, or `seenAt` if the clock was set back.
  package func now(_ clock: Int64) -> Int64 { max(clock, seenAt) }
}
