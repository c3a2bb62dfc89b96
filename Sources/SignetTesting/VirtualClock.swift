public import SignetWire
import Synchronization

/// A clock that stands still until a test sets it.
public final class VirtualClock: WallClock {
  private let time: Mutex<Int64>

  /// Starts at a time, in seconds since 1970.
  public init(_ now: Int64 = 1_795_230_000) { time = Mutex(now) }

  /// Whole seconds since 1970-01-01T00:00:00Z.
  public var now: Int64 { time.withLock { $0 } }

  /// Sets the time, in seconds since 1970; it may go back, as wall clocks do.
  public func set(_ now: Int64) { time.withLock { $0 = now } }

  /// Moves the time on by so many seconds.
  public func advance(by seconds: Int64) { time.withLock { $0 += seconds } }
}
