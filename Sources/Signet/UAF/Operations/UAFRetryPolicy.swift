/// How often something is tried again, and how long is waited before.
@nonexhaustive public enum UAFRetryPolicy: Hashable, Sendable {
  /// Never.
  case none
  /// So many times, each after the same wait.
  case constant(maximumRetries: Int, delay: Duration)
  /// So many times, each after a wait that is longer than the one before by `multiplier` times it, up to a most; 0.5 means half
  /// as much again.
  case exponential(maximumRetries: Int, initialDelay: Duration, maximumDelay: Duration, multiplier: Double)

  /// The wait before each retry, in order.
  package var delays: [Duration] {
    switch self {
    case .none: return []
    case .constant(let count, let delay): return Array(repeating: max(delay, .zero), count: max(count, 0))
    case .exponential(let count, let initial, let most, let multiplier):
      var (delays, delay) = ([Duration](), max(initial, .zero))
      for _ in 0..<max(count, 0) {
        delay = min(delay, max(most, .zero))
        delays.append(delay)
        if delay < most { delay = delay * (1 + max(multiplier, 0)) }
      }
      return delays
    }
  }

  /// Tries something until it succeeds, fails for good, or was tried often enough.
  ///
  /// - Parameters:
  ///   - clock: What waits.
  ///   - mayPass: Whether a failure may pass.
  ///   - attempt: What is tried.
  /// - Returns: What it came to.
  /// - Throws: The last failure; where the task is cancelled, nothing is tried any more.
  package func run<Value, Failure: Error>(
    on clock: any Clock<Duration>, while mayPass: (Failure) -> Bool,
    _ attempt: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    for delay in delays {
      do throws(Failure) { return try await attempt() } catch {
        let failure = error
        guard mayPass(failure), !Task.isCancelled else { throw failure }
        do { try await clock.sleep(for: delay) } catch { throw failure }
      }
    }
    return try await attempt()
  }
}
