import Foundation

/// A point in time as a session needs it: in three clocks, so that it shows when one of them was tampered with.
public struct SessionMoment: Sendable, Hashable {
  /// Since a fixed point before, time asleep included.
  public var elapsed: Duration
  /// Since a fixed point before, time asleep left out.
  public var awake: Duration
  /// What the wall clock says, in seconds since 1970-01-01T00:00:00Z.
  public var wall: Int64

  /// Names all parts.
  public init(elapsed: Duration, awake: Duration, wall: Int64) {
    (self.elapsed, self.awake, self.wall) = (elapsed, awake, wall)
  }
}

/// Tells a session the time.
public protocol SessionClock: Sendable {
  /// Now; each reading is taken at the moment of the call.
  var now: SessionMoment { get }
}

/// The clocks of this machine: `CLOCK_BOOTTIME`, `CLOCK_MONOTONIC` and the wall clock.
public struct SystemSessionClock: SessionClock {
  private let start = (ContinuousClock.now, SuspendingClock.now)

  /// Begins to measure.
  public init() {}

  /// Now; durations count from when this clock was made.
  public var now: SessionMoment {
    SessionMoment(
      elapsed: start.0.duration(to: .now), awake: start.1.duration(to: .now),
      wall: Int64(Date().timeIntervalSince1970))
  }
}
