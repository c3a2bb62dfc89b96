/// How soon a password may be changed, and how soon it must be.
public struct PasswordAge: Sendable, Hashable {
  /// Days for which a password must be used before its user may change it; 0 allows it at once.
  public var minimumDays: Int
  /// Days after which a password must be changed; 0 means never.
  public var maximumDays: Int

  /// Names both.
  public init(minimumDays: Int = 0, maximumDays: Int = 0) {
    self.minimumDays = minimumDays
    self.maximumDays = maximumDays
  }

  /// A password may be changed at once and need never be.
  public static let unlimited = PasswordAge()

  /// The days that a policy may ask for: up to ten years.
  public static let allowedDays = 0...3650

  /// From when on a password may be changed.
  ///
  /// The password that a container was made with may be changed at once; the minimum is for those that follow.
  ///
  /// - Parameter stamp: When the password was set.
  /// - Returns: Seconds since 1970-01-01T00:00:00Z. Compare with the latest wall time ever seen, so that turning the
  ///   clock back changes nothing.
  public func earliestChange(of stamp: PasswordStamp) -> Int64 {
    stamp.isInitial ? stamp.setAt : stamp.day(minimumDays)
  }

  /// When a password expires.
  ///
  /// - Parameter stamp: When the password was set.
  /// - Returns: Seconds since 1970-01-01T00:00:00Z, from which on the password must be changed; `nil` for never.
  public func expiry(of stamp: PasswordStamp) -> Int64? {
    maximumDays > 0 ? stamp.day(maximumDays) : nil
  }
}

/// When a password was set.
public struct PasswordStamp: Sendable, Hashable {
  /// Seconds since 1970-01-01T00:00:00Z.
  public var setAt: Int64
  /// Whether it is the one that the container was made with.
  public var isInitial: Bool

  /// Names both.
  public init(setAt: Int64, isInitial: Bool) {
    self.setAt = setAt
    self.isInitial = isInitial
  }

  /// The moment so many days of 86,400 seconds after the password was set, or the end of time.
  fileprivate func day(_ number: Int) -> Int64 {
    let (days, _) = Int64(PasswordAge.allowedDays.clamping(number)).multipliedReportingOverflow(by: 86_400)
    let (moment, overflows) = setAt.addingReportingOverflow(days)
    return overflows ? .max : moment
  }
}

extension ClosedRange<Int> {
  fileprivate func clamping(_ number: Int) -> Int { Swift.min(Swift.max(number, lowerBound), upperBound) }
}

/// Whether a password that was verified may serve one transaction signature a little later.
public struct PasswordCache: Sendable, Hashable {
  /// Whether it may.
  public var isEnabled: Bool
  /// Seconds for which it may.
  public var timeout: Int

  /// Names both.
  ///
  /// - Parameters:
  ///   - isEnabled: Whether a verified password may serve later.
  ///   - timeout: Seconds, in ``allowedTimeouts``.
  public init(isEnabled: Bool, timeout: Int = PasswordCache.standardTimeout) {
    self.isEnabled = isEnabled
    self.timeout = timeout
  }

  /// Every signature asks for its password.
  public static let disabled = PasswordCache(isEnabled: false)

  /// The seconds where a policy does not say.
  public static let standardTimeout = 30

  /// The seconds that a policy may ask for.
  public static let allowedTimeouts = 1...3600
}
