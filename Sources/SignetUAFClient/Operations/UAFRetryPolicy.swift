/// The number of retries after a failure and the waits between them.
@nonexhaustive public enum UAFRetryPolicy: Hashable, Sendable {
  /// No retries.
  case none
  /// A number of retries, each after the same wait.
  case constant(maximumRetries: Int, delay: Duration)
  /// A number of retries after growing waits.
  ///
  /// Each wait is the previous one times 1 + `multiplier`, at most `maximumDelay`. A multiplier of 0.5 makes each wait
  /// half as long again.
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

  /// Runs an operation until it succeeds, fails permanently or has used up its retries.
  ///
  /// - Parameters:
  ///   - clock: The clock for the waits.
  ///   - mayPass: Returns true for a failure that a retry may overcome.
  ///   - attempt: The operation.
  /// - Returns: The result of the operation.
  /// - Throws: The last failure. There is no retry after the task was cancelled.
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
