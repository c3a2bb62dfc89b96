public import SignetPolicy

/// What tells the time to those who must not be fooled by turning a clock.
///
/// Waits and cool-downs go by ``TrustedTime/boot`` alone. The wall time is for dates that people see and for ages in days, and
/// can be set back and forth by whoever runs the machine.
///
/// ``SystemTrustedClock`` is the system's; `VirtualTrustedClock` is that of tests.
public protocol TrustedClock: Sendable {
  /// The time now.
  var now: TrustedTime { get }
}

/// One moment, told twice.
public struct TrustedTime: Hashable, Sendable {
  /// By the time since the machine was started, sleep included.
  public let boot: BootInstant
  /// By the wall clock: seconds since 1970-01-01T00:00:00Z.
  public let wallSeconds: Int64

  /// Names both.
  public init(boot: BootInstant, wallSeconds: Int64) {
    self.boot = boot
    self.wallSeconds = wallSeconds
  }
}
