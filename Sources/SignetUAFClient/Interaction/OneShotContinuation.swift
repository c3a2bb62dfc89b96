import Synchronization

/// Keeps the first answer to a question and lets one task wait for it.
final class OneShotContinuation<Value: Sendable>: Sendable {
  /// The result of a question.
  enum Outcome: Sendable {
    case value(Value)
    /// The user cancelled.
    case cancelled
    /// The app released the answer object without an answer.
    case dropped
    /// The time limit expired.
    case late
    /// The task of the operation was cancelled.
    case stopped
  }

  private enum State: Sendable {
    case open(CheckedContinuation<Outcome, Never>?)
    case completed(Outcome)
  }

  private let state = Mutex<State>(.open(nil))

  /// Settles the question; returns false if it was settled before.
  @discardableResult
  func settle(_ outcome: Outcome) -> Bool {
    let (isFirst, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Outcome, Never>?) in
      guard case .open(let waiting) = state else { return (false, nil) }
      state = .completed(outcome)
      return (true, waiting)
    }
    waiting?.resume(returning: outcome)
    return isFirst
  }

  /// Waits until the question is settled; at most one task may wait.
  func outcome() async -> Outcome {
    await withCheckedContinuation { continuation in
      let completed = state.withLock { state -> Outcome? in
        switch state {
        case .completed(let outcome): return outcome
        case .open(let waiting):
          precondition(waiting == nil, "two tasks wait for one answer")
          state = .open(continuation)
          return nil
        }
      }
      if let completed { continuation.resume(returning: completed) }
    }
  }
}
