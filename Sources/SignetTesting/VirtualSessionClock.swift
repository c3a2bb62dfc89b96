public import Signet
import Synchronization

/// The clocks of a machine that stand still until a test moves them.
public final class VirtualSessionClock: SessionClock {
  private let moment = Mutex(SessionMoment(elapsed: .zero, awake: .zero, wall: 1_795_230_000))

  /// Starts at zero, on 2026-11-20.
  public init() {}

  /// What the clocks say.
  public var now: SessionMoment { moment.withLock { $0 } }

  /// Lets time pass on a machine that is awake.
  public func advance(by seconds: Int64) {
    moment.withLock { moment in
      moment.elapsed += .seconds(seconds)
      moment.awake += .seconds(seconds)
      moment.wall += seconds
    }
  }

  /// Lets time pass on a machine that sleeps.
  public func sleep(for seconds: Int64) {
    moment.withLock { moment in
      moment.elapsed += .seconds(seconds)
      moment.wall += seconds
    }
  }

  /// Sets the wall clock on, or back.
  public func step(by seconds: Int64) { moment.withLock { $0.wall += seconds } }

  /// Takes everything back, as when a virtual machine is put back to an earlier state.
  public func rewind(by seconds: Int64) { advance(by: -seconds) }
}
