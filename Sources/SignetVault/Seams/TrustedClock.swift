public import SignetPolicy

/// What tells the time to those who must not be fooled by turning a clock.
///
/// Waits and cool-downs go by ``TrustedTime/boot`` alone. The wall time is for dates that people see and for ages in days, and
/// can be set back and forth by whoever runs the machine. A session compares all three, to notice a sleep and a clock that was
/// set.
///
/// ``SystemTrustedClock`` is the system's; `VirtualTrustedClock` is that of tests.
public protocol TrustedClock: Sendable {
  /// The time now; each reading is taken at the moment of the call.
  var now: TrustedTime { get }
}

/// One moment, told three times.
public struct TrustedTime: Hashable, Sendable {
  /// By the time since the machine was started, sleep included.
  public let boot: BootInstant
  /// By the time since the machine was started, sleep left out: milliseconds, 0 or more.
  public let millisecondsAwake: Int64
  /// By the wall clock: seconds since 1970-01-01T00:00:00Z.
  public let wallSeconds: Int64

  /// Names all three.
  ///
  /// - Parameters:
  ///   - boot: By the time since the machine was started, sleep included.
  ///   - millisecondsAwake: By the same without sleep; a negative number counts as 0.
  ///   - wallSeconds: By the wall clock, since 1970-01-01T00:00:00Z.
  public init(boot: BootInstant, millisecondsAwake: Int64, wallSeconds: Int64) {
    (self.boot, self.millisecondsAwake, self.wallSeconds) = (boot, max(0, millisecondsAwake), wallSeconds)
  }
}
