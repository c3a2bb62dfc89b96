import SignetProtocol
public import SignetSystem
import Synchronization

/// A clock that changes only when a test sets it.
public final class VirtualClock: WallClock {
  private let time: Mutex<Int64>

  /// Creates a clock at a time in seconds since 1970-01-01T00:00:00Z.
  public init(_ now: Int64 = 1_795_230_000) { time = Mutex(now) }

  /// Whole seconds since 1970-01-01T00:00:00Z.
  public var now: Int64 { time.withLock { $0 } }

  /// Sets the time, in seconds since 1970-01-01T00:00:00Z; it may go back, like a wall clock.
  public func set(_ now: Int64) { time.withLock { $0 = now } }

  /// Advances the time by a number of seconds.
  public func advance(by seconds: Int64) { time.withLock { $0 += seconds } }
}
