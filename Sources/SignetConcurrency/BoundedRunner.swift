import Synchronization

/// Runs code of others that may fail or hang: who waits for it has an answer in time, whatever it does.
///
/// What did not come back in time is cancelled and left to itself, on a thread of its own, and nothing of its name is begun before it
/// has come back: what hangs must not take another thread whenever it is asked. Until something was late, any number of one name may
/// be under way: who asks at the same time as others is no less answered.
package final class BoundedRunner: Sendable {
  private let executor: ThreadPerJobExecutor
  private let clock: any Clock<Duration>
  /// How many of a name were late, and have not come back.
  private let late = Mutex<[String: Int]>([:])

  /// A runner.
  ///
  /// - Parameters:
  ///   - label: What debuggers and crash reports show.
  ///   - clock: What the time of a round is measured by.
  package init(label: String, clock: any Clock<Duration> = ContinuousClock()) {
    (executor, self.clock) = (ThreadPerJobExecutor(label: label), clock)
  }

  /// Begins something.
  ///
  /// - Parameters:
  ///   - name: What it is called.
  ///   - busy: The answer where an earlier one of this name was late, and has not come back.
  ///   - body: Does it.
  /// - Returns: What is under way, to be waited for by ``answers(to:within:whereLate:)``.
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

  /// Waits for all of a round.
  ///
  /// - Parameters:
  ///   - runs: What was begun; each is waited for once.
  ///   - limit: How long all of them may take from now on.
  ///   - lateAnswer: The answer of those that did not come back in time.
  /// - Returns: The answers, in order.
  package func answers<Value: Sendable>(
    to runs: [BoundedRun<Value>], within limit: Duration, whereLate lateAnswer: Value
  ) async -> [Value] {
    let timer = Task {
      do { try await clock.sleep(for: limit) } catch { return }
      for run in runs { giveUp(run, lateAnswer) }
    }
    var values: [Value] = []
    for run in runs { values.append(await run.answer.value) }
    timer.cancel()
    return values
  }

  private func giveUp<Value: Sendable>(_ run: BoundedRun<Value>, _ lateAnswer: Value) {
    let isLate = late.withLock { late in
      guard run.answer.settle(lateAnswer) else { return false }
      late[run.name, default: 0] += 1
      return true
    }
    // Not while others wait for the lock: what is cancelled may run code of its own.
    if isLate { run.work?.cancel() }
  }
}

/// Something that a ``BoundedRunner`` has begun, or an answer that was there at once.
package struct BoundedRun<Value: Sendable>: Sendable {
  fileprivate let name: String
  fileprivate let answer: FirstAnswer<Value>
  fileprivate let work: Task<Void, Never>?

  fileprivate init(name: String, answer: FirstAnswer<Value>, work: Task<Void, Never>) {
    (self.name, self.answer, self.work) = (name, answer, work)
  }

  /// An answer that is there at once.
  package init(_ value: Value) {
    (name, answer, work) = ("", FirstAnswer(), nil)
    answer.settle(value)
  }
}

/// An answer that somebody waits for: the first one counts.
private final class FirstAnswer<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiting: CheckedContinuation<Value, Never>?
  }

  private let state = Mutex(State())

  /// Answers; nothing happens where that was done before.
  ///
  /// - Returns: Whether this was the first.
  @discardableResult
  func settle(_ value: Value) -> Bool {
    let (isFirst, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Value, Never>?) in
      guard state.value == nil else { return (false, nil) }
      let waiting = state.waiting
      state = State(value: value)
      return (true, waiting)
    }
    waiting?.resume(returning: value)
    return isFirst
  }

  /// The answer, once there is one; asked for once.
  var value: Value {
    get async {
      await withCheckedContinuation { continuation in
        let settled = state.withLock { state in
          if state.value == nil { state.waiting = continuation }
          return state.value
        }
        if let settled { continuation.resume(returning: settled) }
      }
    }
  }
}
