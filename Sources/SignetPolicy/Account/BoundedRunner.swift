import SignetConcurrency
import Synchronization

/// Runs code of others that may fail or hang: who waits for it has an answer in time, whatever it does.
///
/// What has not come back is left to itself, on a thread of its own, and not started again before it has.
final class BoundedRunner: Sendable {
  /// How long a round may take.
  let timeLimit: Duration
  private let executor: ThreadPerJobExecutor
  /// What has begun and not come back.
  private let unfinished = Mutex<Set<String>>([])

  init(timeLimit: Duration, label: String) {
    (self.timeLimit, executor) = (timeLimit, ThreadPerJobExecutor(label: label))
  }

  /// Begins something.
  ///
  /// - Parameters:
  ///   - name: Of it there is one at a time.
  ///   - busy: The answer where the one before has not come back.
  ///   - body: Does it.
  /// - Returns: Its answer, which may come later or never.
  func begin<Value>(
    _ name: String, whereBusy busy: Value, _ body: @escaping @Sendable () async -> Value
  ) -> FirstAnswer<Value> {
    let answer = FirstAnswer<Value>()
    guard unfinished.withLock({ $0.insert(name).inserted }) else {
      answer.settle(busy)
      return answer
    }
    let work = Task.detached(executorPreference: executor) { [self] in
      let value = await body()
      unfinished.withLock { _ = $0.remove(name) }
      answer.settle(value)
    }
    answer.whenSettled { work.cancel() }
    return answer
  }

  /// All answers of a round, in order; `late` in the place of those that did not come in time.
  func answers<Value>(_ begun: [FirstAnswer<Value>], whereLate late: Value) async -> [Value] {
    let timer = Task { [timeLimit] in
      do { try await Task.sleep(for: timeLimit) } catch { return }
      for answer in begun { answer.settle(late) }
    }
    var values: [Value] = []
    for answer in begun { values.append(await answer.value) }
    timer.cancel()
    return values
  }
}

/// An answer that somebody waits for: the first one counts.
final class FirstAnswer<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiting: CheckedContinuation<Value, Never>?
    var end: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// An answer that is still to come.
  init() {}

  /// One that is there.
  init(_ value: Value) { settle(value) }

  /// Answers; nothing happens where that was done before.
  func settle(_ value: Value) {
    let before = state.withLock { state in
      let before = state
      guard state.value == nil else { return State() }
      state = State(value: value)
      return before
    }
    before.waiting?.resume(returning: value)
    before.end?()
  }

  /// Runs `body` once there is an answer.
  func whenSettled(_ body: @escaping @Sendable () -> Void) {
    let isSettled = state.withLock { state in
      if state.value == nil { state.end = body }
      return state.value != nil
    }
    if isSettled { body() }
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
