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
  public var now: Int64 { Int64(time(nil)) }
}
