import SignetPolicy
public import SignetVault
import Synchronization

/// A trusted clock that stands still until a test moves it, and can be rebooted.
public final class VirtualTrustedClock: TrustedClock {
  private let time: Mutex<TrustedTime>

  /// Starts an hour after boot, at a wall time in seconds since 1970.
  public init(wallSeconds: Int64 = 1_795_230_000) {
    let boot = BootInstant(bootID: BootID(high: 0, low: 1), millisecondsSinceBoot: 3_600_000)
    time = Mutex(TrustedTime(boot: boot, wallSeconds: wallSeconds))
  }

  /// The time now.
  public var now: TrustedTime { time.withLock { $0 } }

  /// Lets both clocks go on.
  ///
  /// - Parameter duration: How long, in whole milliseconds; the wall clock takes the whole seconds of it.
  public func advance(by duration: Duration) {
    let (seconds, attoseconds) = duration.components
    time.withLock { now in
      let milliseconds =
        now.boot.millisecondsSinceBoot + seconds * 1_000 + attoseconds / 1_000_000_000_000_000
      now = TrustedTime(
        boot: BootInstant(bootID: now.boot.bootID, millisecondsSinceBoot: milliseconds),
        wallSeconds: now.wallSeconds + seconds)
    }
  }

  /// Turns the wall clock by so many seconds, back or forth; the time since boot does not notice.
  public func turnWall(by seconds: Int64) {
    time.withLock { $0 = TrustedTime(boot: $0.boot, wallSeconds: $0.wallSeconds + seconds) }
  }

  /// Starts the machine anew: another boot id, and so long since boot.
  ///
  /// - Parameter uptime: Whole milliseconds that the new run has lasted.
  public func reboot(uptime: Duration = .seconds(20)) {
    let (seconds, attoseconds) = uptime.components
    time.withLock { now in
      let number = UInt64(bigEndianBytes: now.boot.bootID.bytes.suffix(8)) + 1
      now = TrustedTime(
        boot: BootInstant(
          bootID: BootID(high: 0, low: number),
          millisecondsSinceBoot: seconds * 1_000 + attoseconds / 1_000_000_000_000_000),
        wallSeconds: now.wallSeconds)
    }
  }
}

extension UInt64 {
  fileprivate init(bigEndianBytes bytes: some Sequence<UInt8>) {
    self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
