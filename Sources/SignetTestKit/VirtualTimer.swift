import Synchronization

/// A clock on which tasks sleep until a test advances it.
public final class VirtualTimer: Clock {
  /// A time since the start.
  public struct Instant: InstantProtocol {
    /// The duration since the start.
    public let offset: Duration

    /// Returns the instant later by a duration.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// Returns the duration until another instant.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// True if the left instant is before the right one.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct Values {
    var now = Instant(offset: .zero)
    var next = 0
    var sleepers: [Int: Sleeper] = [:]
    /// The sleepers that were cancelled before they slept.
    var cancelled: Set<Int> = []
    var watchers: [CheckedContinuation<Void, Never>] = []
  }

  private let values = Mutex(Values())

  /// Creates a clock at zero.
  public init() {}

  /// The present time.
  public var now: Instant { values.withLock { $0.now } }

  /// Zero: the clock is exact.
  public var minimumResolution: Duration { .zero }

  /// Sleeps until a test has advanced the clock to the deadline.
  ///
  /// - Parameters:
  ///   - deadline: The instant to wait for.
  ///   - tolerance: Ignored.
  /// - Throws: `CancellationError` in a cancelled task.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = values.withLock { values in
      values.next += 1
      return values.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let (outcome, watchers) = values.withLock {
          values -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
          if values.cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
          if deadline <= values.now { return (.success(()), []) }
          values.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
          let watchers = values.watchers
          values.watchers = []
          return (nil, watchers)
        }
        for watcher in watchers { watcher.resume() }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let sleeper = values.withLock { values -> Sleeper? in
        guard let sleeper = values.sleepers.removeValue(forKey: id) else {
          values.cancelled.insert(id)
          return nil
        }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Waits until a task sleeps.
  ///
  /// - Returns: The remaining time of the first sleeper to wake.
  public func untilSomeoneSleeps() async -> Duration {
    while true {
      let found = values.withLock { values in
        values.sleepers.values.map(\.deadline).min().map { values.now.duration(to: $0) }
      }
      if let found { return found }
      await withCheckedContinuation { continuation in
        let hasSleeper = values.withLock { values in
          guard values.sleepers.isEmpty else { return true }
          values.watchers.append(continuation)
          return false
        }
        if hasSleeper { continuation.resume() }
      }
    }
  }

  /// Advances the clock, and wakes the sleepers whose deadline has passed.
  public func advance(by duration: Duration) {
    let woken = values.withLock { values in
      values.now = values.now.advanced(by: duration)
      let woken = values.sleepers.filter { $0.value.deadline <= values.now }
      for id in woken.keys { values.sleepers[id] = nil }
      return woken.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume() }
  }
}
