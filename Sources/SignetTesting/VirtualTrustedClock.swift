import SignetPolicy
public import SignetVault
import Synchronization

/// A trusted clock that stands still until a test moves it, puts it to sleep, or reboots it.
public final class VirtualTrustedClock: TrustedClock {
  private let time: Mutex<TrustedTime>

  /// Starts an hour after boot, at a wall time in seconds since 1970.
  public init(wallSeconds: Int64 = 1_795_230_000) {
    let boot = BootInstant(bootID: BootID(high: 0, low: 1), millisecondsSinceBoot: 3_600_000)
    time = Mutex(TrustedTime(boot: boot, millisecondsAwake: 3_600_000, wallSeconds: wallSeconds))
  }

  /// The time now.
  public var now: TrustedTime { time.withLock { $0 } }

  /// Lets all clocks go on.
  ///
  /// - Parameter duration: How long, in whole milliseconds; the wall clock takes the whole seconds of it.
  public func advance(by duration: Duration) { move(boot: duration, awake: duration, wall: duration) }

  /// Lets time pass on a machine that sleeps.
  ///
  /// - Parameter duration: How long, in whole milliseconds; the wall clock takes the whole seconds of it.
  public func sleep(for duration: Duration) { move(boot: duration, awake: .zero, wall: duration) }

  /// Takes all clocks back, as when a virtual machine is put back to an earlier state.
  ///
  /// - Parameter duration: How far, in whole milliseconds; the wall clock takes the whole seconds of it.
  public func rewind(by duration: Duration) { advance(by: .zero - duration) }

  /// Turns the wall clock by so many seconds, back or forth; the other clocks do not notice.
  public func turnWall(by seconds: Int64) { move(boot: .zero, awake: .zero, wall: .seconds(seconds)) }

  /// Starts the machine anew: another boot id, and so long since boot.
  ///
  /// - Parameter uptime: Whole milliseconds that the new run has lasted.
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
