import SignetPolicy

/// The limits on how long a session or secret stays unlocked.
public struct SessionLimits: Sendable, Hashable {
  /// The longest time between two uses; `nil` sets no limit.
  public let idleTimeout: Duration?
  /// The longest time since the last authentication, sleep included; `nil` sets no limit.
  public let maximumAge: Duration?

  /// The range of a limit: one second to 30 days.
  public static let allowed: ClosedRange<Duration> = .seconds(1)...(.seconds(30 * 86_400))

  /// Creates limits; a value outside ``allowed`` is clamped to the nearest bound.
  public init(idleTimeout: Duration?, maximumAge: Duration?) {
    self.idleTimeout = idleTimeout.map(Self.bounded)
    self.maximumAge = maximumAge.map(Self.bounded)
  }

  /// 5 minutes without a use, 8 hours in total.
  public static let standard = SessionLimits(idleTimeout: .seconds(300), maximumAge: .seconds(8 * 3600))

  private static func bounded(_ limit: Duration) -> Duration {
    min(max(limit, allowed.lowerBound), allowed.upperBound)
  }
}

/// The times from which the end of a session is computed.
package struct SessionTimes: Sendable, Hashable {
  /// The time of the last authentication.
  let authenticated: TrustedTime
  /// The time of the last use.
  package var used: TrustedTime
  /// The time of the last check, with or without a use.
  package var seen: TrustedTime

  package init(_ now: TrustedTime) {
    authenticated = now
    used = now
    seen = now
  }
}

extension SessionLimits {
  /// The decision whether a session may stay unlocked.
  package enum Verdict: Sendable, Hashable {
    /// The session may stay unlocked; check again after this duration at the latest.
    case stay(for: Duration)
    /// The session must be locked.
    case lock(LockReason)
  }

  /// The difference between clocks that counts as sleep or as a change of the wall clock.
  ///
  /// The wall clock is read in whole seconds, and time services slew it. A running machine makes no larger step within one
  /// check interval.
  static let tolerance: (sleep: Duration, wall: Duration) = (.seconds(1), .seconds(10))

  /// The longest time between checks, so that sleep or a set clock is detected soon.
  static let interval: Duration = .seconds(5)

  /// Decides from the times alone.
  ///
  /// If several reasons apply, the most specific one is returned: a changed clock, sleep, then age, then idleness.
  package func verdict(_ times: SessionTimes, _ now: TrustedTime) -> Verdict {
    guard let elapsed = now.elapsed(since: times.seen), let age = now.elapsed(since: times.authenticated),
      let idle = now.elapsed(since: times.used)
    else { return .lock(.clockJumped) }
    let awake = Duration.milliseconds(now.millisecondsAwake - times.seen.millisecondsAwake)
    guard elapsed >= .zero, awake >= .zero else { return .lock(.clockJumped) }
    if elapsed - awake > Self.tolerance.sleep { return .lock(.suspended) }
    let (step, overflow) = now.wallSeconds.subtractingReportingOverflow(times.seen.wallSeconds)
    let difference = overflow ? Self.allowed.upperBound : .seconds(step) - elapsed
    guard difference.magnitude <= Self.tolerance.wall else { return .lock(.clockJumped) }

    var rest = Self.interval
    if let maximumAge {
      let remaining = maximumAge - age
      guard remaining > .zero else { return .lock(.tooOld) }
      rest = min(rest, remaining)
    }
    if let idleTimeout {
      let remaining = idleTimeout - idle
      guard remaining > .zero else { return .lock(.idle) }
      rest = min(rest, remaining)
    }
    return .stay(for: rest)
  }
}

extension TrustedTime {
  /// The time since another time, sleep included; `nil` after a reboot, negative if time ran backwards.
  fileprivate func elapsed(since other: TrustedTime) -> Duration? {
    guard boot.bootID == other.boot.bootID else { return nil }
    return .milliseconds(boot.millisecondsSinceBoot - other.boot.millisecondsSinceBoot)
  }
}

extension Duration {
  fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
