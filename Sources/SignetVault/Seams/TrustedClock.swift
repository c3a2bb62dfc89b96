public import SignetPolicy

/// A source of time for checks that setting a clock must not defeat.
///
/// Waits use ``TrustedTime/boot`` alone. The wall time serves dates that users see and ages in days; an administrator of the
/// machine can set it in both directions. A session compares all three times to detect sleep and a set clock.
///
/// ``SystemTrustedClock`` is the system's clock; tests use `VirtualTrustedClock`.
public protocol TrustedClock: Sendable {
  /// The time now, read at the moment of the call.
  var now: TrustedTime { get }
}

/// One point in time on three clocks.
public struct TrustedTime: Hashable, Sendable {
  /// The time since boot, sleep included.
  public let boot: BootInstant
  /// The time since boot without sleep: milliseconds, 0 or more.
  public let millisecondsAwake: Int64
  /// The wall clock: seconds since 1970-01-01T00:00:00Z.
  public let wallSeconds: Int64

  /// Creates a time from three clock readings.
  ///
  /// - Parameters:
  ///   - boot: The time since boot, sleep included.
  ///   - millisecondsAwake: The time since boot without sleep; a negative number counts as 0.
  ///   - wallSeconds: The wall clock, since 1970-01-01T00:00:00Z.
  public init(boot: BootInstant, millisecondsAwake: Int64, wallSeconds: Int64) {
    self.boot = boot
    self.millisecondsAwake = max(0, millisecondsAwake)
    self.wallSeconds = wallSeconds
  }
}
