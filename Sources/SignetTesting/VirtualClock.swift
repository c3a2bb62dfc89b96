import SignetPolicy
import SignetProtocol
public import SignetSystem
public import SignetVault
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

/// A trusted clock that changes only when a test advances it, puts it to sleep, or reboots it.
public final class VirtualTrustedClock: TrustedClock {
  private let time: Mutex<TrustedTime>

  /// Creates a clock an hour after boot, at a wall time in seconds since 1970-01-01T00:00:00Z.
  public init(wallSeconds: Int64 = 1_795_230_000) {
    let boot = BootInstant(bootID: BootID(high: 0, low: 1), millisecondsSinceBoot: 3_600_000)
    time = Mutex(TrustedTime(boot: boot, millisecondsAwake: 3_600_000, wallSeconds: wallSeconds))
  }

  /// The present time.
  public var now: TrustedTime { time.withLock { $0 } }

  /// Advances all clocks.
  ///
  /// - Parameter duration: Whole milliseconds; the wall clock advances by its whole seconds.
  public func advance(by duration: Duration) { move(boot: duration, awake: duration, wall: duration) }

  /// Advances the clocks as on a sleeping machine.
  ///
  /// - Parameter duration: Whole milliseconds; the wall clock advances by its whole seconds.
  public func sleep(for duration: Duration) { move(boot: duration, awake: .zero, wall: duration) }

  /// Sets all clocks back, like the rollback of a virtual machine to an earlier snapshot.
  ///
  /// - Parameter duration: Whole milliseconds; the wall clock goes back by its whole seconds.
  public func rewind(by duration: Duration) { advance(by: .zero - duration) }

  /// Changes the wall clock by a number of seconds, forward or back; the other clocks stay.
  public func adjustWallClock(by seconds: Int64) { move(boot: .zero, awake: .zero, wall: .seconds(seconds)) }

  /// Reboots the machine: another boot ID, and a new time since boot.
  ///
  /// - Parameter uptime: Whole milliseconds since the new boot.
  public func reboot(uptime: Duration = .seconds(20)) {
    time.withLock { now in
      let number = UInt64(bigEndianBytes: now.boot.bootID.bytes.suffix(8)) + 1
      now = TrustedTime(
        boot: BootInstant(
          bootID: BootID(high: 0, low: number), millisecondsSinceBoot: uptime.wholeMilliseconds),
        millisecondsAwake: uptime.wholeMilliseconds, wallSeconds: now.wallSeconds)
    }
  }

  private func move(boot: Duration, awake: Duration, wall: Duration) {
    time.withLock { now in
      let sinceBoot = now.boot.millisecondsSinceBoot + boot.wholeMilliseconds
      now = TrustedTime(
        boot: BootInstant(bootID: now.boot.bootID, millisecondsSinceBoot: sinceBoot),
        millisecondsAwake: now.millisecondsAwake + awake.wholeMilliseconds,
        wallSeconds: now.wallSeconds + wall.components.seconds)
    }
  }
}

extension Duration {
  fileprivate var wholeMilliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}

extension UInt64 {
  fileprivate init(bigEndianBytes bytes: some Sequence<UInt8>) {
    self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
