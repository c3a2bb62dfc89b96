import SignetPolicy

/// How long something that was unlocked may stay so.
public struct SessionLimits: Sendable, Hashable {
  /// The longest time between two uses; `nil` sets no limit.
  public let idleTimeout: Duration?
  /// The longest time since the last authentication, time asleep included; `nil` sets no limit.
  public let maximumAge: Duration?

  /// What a limit may be: a second to 30 days.
  public static let allowed: ClosedRange<Duration> = .seconds(1)...(.seconds(30 * 86_400))

  /// Sets limits; one outside ``allowed`` is taken as the nearest that is not.
  public init(idleTimeout: Duration?, maximumAge: Duration?) {
    self.idleTimeout = idleTimeout.map(Self.bounded)
    self.maximumAge = maximumAge.map(Self.bounded)
  }

  /// 5 minutes without a use, 8 hours in all.
  public static let standard = SessionLimits(idleTimeout: .seconds(300), maximumAge: .seconds(8 * 3600))

  private static func bounded(_ limit: Duration) -> Duration {
    min(max(limit, allowed.lowerBound), allowed.upperBound)
  }
}

/// What is known about something that is unlocked, as far as its end depends on it.
package struct SessionTimes: Sendable, Hashable {
  /// When its user authenticated.
  let authenticated: TrustedTime
  /// When it was used last.
  package var used: TrustedTime
  /// When it was last looked at, to use it or not.
  package var seen: TrustedTime

  package init(_ now: TrustedTime) { (authenticated, used, seen) = (now, now, now) }
}

extension SessionLimits {
  /// Whether something may stay unlocked.
  package enum Verdict: Sendable, Hashable {
    /// It may; look again after this time at the latest.
    case stay(for: Duration)
    /// It may not.
    case lock(LockReason)
  }

  /// The difference between the clocks that counts as sleep or as a change of the wall clock.
  ///
  /// The wall clock is read in whole seconds and slewed by time services; a larger step within one interval of looking is not
  /// what a running machine does by itself.
  static let tolerance: (sleep: Duration, wall: Duration) = (.seconds(1), .seconds(10))

  /// How long one may go without looking, so that a sleep or a set clock is noticed soon.
  static let interval: Duration = .seconds(5)

  /// Decides from the times alone.
  ///
  /// Where several reasons hold, the one that says the most is given: a clock that was changed, a sleep, then age and idleness.
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
      let left = maximumAge - age
      guard left > .zero else { return .lock(.tooOld) }
      rest = min(rest, left)
    }
    if let idleTimeout {
      let left = idleTimeout - idle
      guard left > .zero else { return .lock(.idle) }
      rest = min(rest, left)
    }
    return .stay(for: rest)
  }
}

extension TrustedTime {
  /// The time since another moment, sleep included; `nil` if the machine was started anew, negative if time ran backwards.
  fileprivate func elapsed(since other: TrustedTime) -> Duration? {
    guard boot.bootID == other.boot.bootID else { return nil }
    return .milliseconds(boot.millisecondsSinceBoot - other.boot.millisecondsSinceBoot)
  }
}

extension Duration {
  fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
