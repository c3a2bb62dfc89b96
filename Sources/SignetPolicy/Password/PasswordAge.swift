/// The minimum and maximum age of a password.
public struct PasswordAge: Sendable, Hashable {
  /// Days before a user may change a password; 0 allows a change at once.
  public var minimumDays: Int
  /// Days after which a password must be changed; 0 means never.
  public var maximumDays: Int

  /// Creates an age rule.
  public init(minimumDays: Int = 0, maximumDays: Int = 0) {
    self.minimumDays = minimumDays
    self.maximumDays = maximumDays
  }

  /// No minimum and no maximum age.
  public static let unlimited = PasswordAge()

  /// The allowed days in a policy: up to ten years.
  public static let allowedDays = 0...3650

  /// Returns the time from which a password may be changed.
  ///
  /// The initial password of a container may be changed at once; the minimum age applies to later ones.
  ///
  /// - Parameter stamp: The time when the password was set.
  /// - Returns: Seconds since 1970-01-01T00:00:00Z. Compare with the latest wall time ever seen, so that setting the clock
  ///   back has no effect.
  public func earliestChange(of stamp: PasswordStamp) -> Int64 {
    stamp.isInitial ? stamp.setAt : stamp.day(minimumDays)
  }

  /// Returns the time when a password expires.
  ///
  /// - Parameter stamp: The time when the password was set.
  /// - Returns: Seconds since 1970-01-01T00:00:00Z, from which on the password must be changed; `nil` for never.
  public func expiry(of stamp: PasswordStamp) -> Int64? {
    maximumDays > 0 ? stamp.day(maximumDays) : nil
  }
}

/// The time when a password was set.
public struct PasswordStamp: Sendable, Hashable {
  /// Seconds since 1970-01-01T00:00:00Z.
  public var setAt: Int64
  /// True for the initial password of a container.
  public var isInitial: Bool

  /// Creates a stamp.
  public init(setAt: Int64, isInitial: Bool) {
    self.setAt = setAt
    self.isInitial = isInitial
  }

  /// The moment this number of days of 86,400 seconds after the password was set, or `Int64.max` on overflow.
  fileprivate func day(_ number: Int) -> Int64 {
    let (days, _) = Int64(PasswordAge.allowedDays.clamping(number)).multipliedReportingOverflow(by: 86_400)
    let (moment, overflows) = setAt.addingReportingOverflow(days)
    return overflows ? .max : moment
  }
}

extension ClosedRange<Int> {
  fileprivate func clamping(_ number: Int) -> Int { Swift.min(Swift.max(number, lowerBound), upperBound) }
}

/// The rule that lets a verified password serve one later transaction signature.
public struct PasswordCache: Sendable, Hashable {
  /// True if a verified password may be reused once.
  public var isEnabled: Bool
  /// The seconds after verification within which it may be reused.
  public var timeout: Int

  /// Creates a cache rule.
  ///
  /// - Parameters:
  ///   - isEnabled: True if a verified password may serve one later signature.
  ///   - timeout: Seconds, in ``allowedTimeouts``.
  public init(isEnabled: Bool, timeout: Int = PasswordCache.standardTimeout) {
    self.isEnabled = isEnabled
    self.timeout = timeout
  }

  /// No reuse: every signature asks for its password.
  public static let disabled = PasswordCache(isEnabled: false)

  /// The default time-out in seconds.
  public static let standardTimeout = 30

  /// The allowed time-outs in seconds.
  public static let allowedTimeouts = 1...3600
}
