package import SignetPolicy

/// When a password was set, by a wall clock that can be turned.
package struct PasswordTimes: Sendable, Hashable {
  /// When it was set.
  package var stamp: PasswordStamp
  /// The latest time that the vault has seen since, in seconds since 1970-01-01T00:00:00Z.
  package var seenAt: Int64

  /// Names both.
  package init(stamp: PasswordStamp, seenAt: Int64) {
    self.stamp = stamp
    self.seenAt = seenAt
  }

  /// A password that is set now.
  init(setAt now: Int64, isInitial: Bool) {
    self.init(stamp: PasswordStamp(setAt: now, isInitial: isInitial), seenAt: now)
  }

  /// The time now: that of the clock, unless the clock was turned back.
  package func now(_ clock: Int64) -> Int64 { max(clock, seenAt) }
}
