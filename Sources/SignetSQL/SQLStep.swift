import SignetConcurrency
import Synchronization

/// A step that waits for its turn: what runs it neither knows its value nor its caller.
protocol QueuedStep: AnyObject, Sendable {
  /// Runs the body; the result is kept until ``finish(_:)``. It may run again.
  ///
  /// - Returns: What the body threw.
  func attempt(on connection: SQLConnection) -> (any Error)?

  /// Tells the caller: what the body returned or threw, or the failure of the commit.
  func finish(_ failure: (any Error)?)
}

/// A step with its value.
final class SQLStep<Value: Sendable>: QueuedStep {
  let completion = Completion<Value>()
  private let body: @Sendable (SQLConnection) throws -> Value
  private let result = Mutex<Result<Value, any Error>?>(nil)

  init(_ body: @escaping @Sendable (SQLConnection) throws -> Value) { self.body = body }

  func attempt(on connection: SQLConnection) -> (any Error)? {
    // A failure that the body swallowed fails the step all the same.
    let outcome = Result {
      let value = try body(connection)
      if let failure = connection.failure { throw failure }
      return value
    }
    result.withLock { $0 = outcome }
    if case .failure(let error) = outcome { return error }
    return nil
  }

  func finish(_ failure: (any Error)?) {
    let outcome = result.withLock { $0 }
    if let failure {
      completion.settle(.failure(failure))
    } else if let outcome {
      completion.settle(outcome)
    } else {
      preconditionFailure("a step that did not run ends with a failure")
    }
  }
}
