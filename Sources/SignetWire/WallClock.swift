#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Where the time comes from.
public protocol WallClock: Sendable {
  /// Whole seconds since 1970-01-01T00:00:00Z.
  var now: Int64 { get }
}

/// The system's clock.
public struct SystemWallClock: WallClock {
  /// The system's clock.
  public init() {}
  /// Whole seconds since 1970-01-01T00:00:00Z.
  ///
  /// Not by `time`, which on Linux tells the second of the kernel's last tick, some milliseconds behind what other clocks say.
  public var now: Int64 {
    var time = timespec()
    let code = clock_gettime(CLOCK_REALTIME, &time)
    precondition(code == 0, "every system has this clock")
    return Int64(time.tv_sec)
  }
}
