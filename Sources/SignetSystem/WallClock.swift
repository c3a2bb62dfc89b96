#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A source of the current time.
public protocol WallClock: Sendable {
  /// Whole seconds since 1970-01-01T00:00:00Z.
  var now: Int64 { get }
}

/// The clock of the operating system.
public struct SystemWallClock: WallClock {
  /// Creates a clock.
  public init() {}
  /// The whole seconds since 1970-01-01T00:00:00Z.
  ///
  /// It does not use `time`, which on Linux returns the second of the kernel's last tick, some milliseconds behind other
  /// clocks.
  public var now: Int64 {
    var time = timespec()
    let code = unsafe clock_gettime(CLOCK_REALTIME, &time)
    precondition(code == 0, "every system has this clock")
    return Int64(time.tv_sec)
  }
}
