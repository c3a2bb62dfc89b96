import Synchronization

/// The recipient of the answer to one question of an operation.
///
/// Only the first answer counts, also if several tasks answer at the same moment; later calls return false. If the app
/// releases this object without an answer, the operation ends at once with ``UAFClientError/userNotResponsive``. It ends
/// the same way when the time limit expires.
public final class UAFAnswer<Value: Sendable>: Sendable {
  private let slot: OneShotContinuation<Value>

  init(_ slot: OneShotContinuation<Value>) { self.slot = slot }

  deinit { slot.settle(.dropped) }

  /// Gives the answer.
  ///
  /// - Parameter value: The answer.
  /// - Returns: True if the answer counts; false after an earlier answer or after the time limit.
  @discardableResult
  public func give(_ value: Value) -> Bool { slot.settle(.value(value)) }

  /// Cancels on behalf of the user; the operation ends with ``UAFClientError/userCancelled``.
  ///
  /// - Returns: True if the cancellation counts; false after an earlier answer or after the time limit.
  @discardableResult
  public func cancel() -> Bool { slot.settle(.cancelled) }
}

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
