import Synchronization

/// Runs foreign code that may fail or hang, and returns an answer in time in any case.
///
/// An operation that is late is cancelled and left running on its own thread. Until it ends, no operation of the same name
/// starts, so that code which hangs does not occupy another thread at each request. While no operation of a name is late,
/// any number of them may run at once, so concurrent callers all get an answer.
package final class BoundedRunner: Sendable {
  private let executor: ThreadPerJobExecutor
  private let clock: any Clock<Duration>
  /// For each name, the number of late operations that have not ended.
  private let late = Mutex<[String: Int]>([:])

  /// Creates a runner.
  ///
  /// - Parameters:
  ///   - label: The name in debuggers and crash reports.
  ///   - clock: The clock that measures the time-out.
  package init(label: String, clock: any Clock<Duration> = ContinuousClock()) {
    (executor, self.clock) = (ThreadPerJobExecutor(label: label), clock)
  }

  /// Starts an operation.
  ///
  /// - Parameters:
  ///   - name: The operation's name.
  ///   - busy: The answer if an earlier operation of this name is late and has not ended.
  ///   - body: The operation.
  /// - Returns: The running operation, for ``answers(to:within:whereLate:)``.
  package func begin<Value: Sendable>(
    _ name: String, whereBusy busy: Value, _ body: @escaping @Sendable () async -> Value
  ) -> BoundedRun<Value> {
    guard late.withLock({ $0[name] == nil }) else { return BoundedRun(busy) }
    let answer = FirstAnswer<Value>()
    let work = Task.detached(executorPreference: executor) { [self] in
      let value = await body()
      late.withLock { late in
        guard !answer.settle(value), let count = late[name] else { return }
        late[name] = count > 1 ? count - 1 : nil
      }
    }
    return BoundedRun(name: name, answer: answer, work: work)
  }

  /// Waits for several operations.
  ///
  /// - Parameters:
  ///   - runs: The started operations; wait for each only once.
  ///   - limit: The time-out for all of them together, from now on.
  ///   - lateAnswer: The answer of late operations.
  /// - Returns: The answers, in order.
  package func answers<Value: Sendable>(
    to runs: [BoundedRun<Value>], within limit: Duration, whereLate lateAnswer: Value
  ) async -> [Value] {
    let timer = Task {
      do { try await clock.sleep(for: limit) } catch { return }
      for run in runs { expire(run, lateAnswer) }
    }
    var values: [Value] = []
    for run in runs { values.append(await run.answer.value) }
    timer.cancel()
    return values
  }

  private func expire<Value: Sendable>(_ run: BoundedRun<Value>, _ lateAnswer: Value) {
    let isLate = late.withLock { late in
      guard run.answer.settle(lateAnswer) else { return false }
      late[run.name, default: 0] += 1
      return true
    }
    // Outside of the lock: cancellation handlers may run foreign code.
    if isLate { run.work?.cancel() }
  }
}

/// An operation that a ``BoundedRunner`` has started, or an immediate answer.
package struct BoundedRun<Value: Sendable>: Sendable {
  fileprivate let name: String
  fileprivate let answer: FirstAnswer<Value>
  fileprivate let work: Task<Void, Never>?

  fileprivate init(name: String, answer: FirstAnswer<Value>, work: Task<Void, Never>) {
    self.name = name
    self.answer = answer
    self.work = work
  }

  package init(_ value: Value) {
    name = ""
    answer = FirstAnswer()
    work = nil
    answer.settle(value)
  }
}

/// An answer that one caller awaits; only the first one counts.
private final class FirstAnswer<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var continuation: CheckedContinuation<Value, Never>?
  }

  private let state = Mutex(State())

  /// Sets the answer unless there is one already.
  ///
  /// - Returns: True if this was the first answer.
  @discardableResult
  func settle(_ value: Value) -> Bool {
    let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Value, Never>?) in
      guard state.value == nil else { return (false, nil) }
      let continuation = state.continuation
      state = State(value: value)
      return (true, continuation)
    }
    continuation?.resume(returning: value)
    return isFirst
  }

  /// The answer, when available; may be awaited only once.
  var value: Value {
    get async {
      await withCheckedContinuation { continuation in
        let settled = state.withLock { state in
          if state.value == nil { state.continuation = continuation }
          return state.value
        }
        if let settled { continuation.resume(returning: settled) }
      }
    }
  }
}
