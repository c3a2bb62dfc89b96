import Synchronization

/// A result that arrives later, for one listener: a task that awaits it, or a callback where a task for each request is too slow.
package final class Completion<Value: Sendable>: Sendable {
  /// Hears the result once.
  package typealias Listener = @Sendable (Result<Value, any Error>) -> Void

  private enum State {
    case open
    case awaited(Listener)
    case settled(Result<Value, any Error>)
    case delivered
  }

  private let state = Mutex(State.open)

  /// A completion that ``settle(_:)`` ends.
  package init() {}

  /// Ends it.
  ///
  /// - Precondition: It was not ended before.
  package func settle(_ result: Result<Value, any Error>) {
    let listener = state.withLock { state -> Listener? in
      switch state {
      case .open:
        state = .settled(result)
        return nil
      case .awaited(let listener):
        state = .delivered
        return listener
      case .settled, .delivered: preconditionFailure("a completion ends once")
      }
    }
    listener?(result)
  }

  /// Calls `listener` with the result, at once where it is there; otherwise on the thread that settles, which it must not block.
  ///
  /// - Precondition: Nobody else listens.
  package func then(_ listener: @escaping Listener) {
    let result = state.withLock { state -> Result<Value, any Error>? in
      switch state {
      case .open:
        state = .awaited(listener)
        return nil
      case .settled(let result):
        state = .delivered
        return result
      case .awaited, .delivered: preconditionFailure("a completion has one listener")
      }
    }
    if let result { listener(result) }
  }

  /// A completion of what `transform` makes of the value, on the thread that settles this one.
  package func map<Other: Sendable>(
    _ transform: @escaping @Sendable (Value) throws -> Other
  ) -> Completion<Other> {
    let other = Completion<Other>()
    then { result in other.settle(Result { try transform(result.get()) }) }
    return other
  }

  /// The value, once it is there.
  package var value: Value {
    get async throws {
      try await withCheckedContinuation { continuation in then { continuation.resume(returning: $0) } }.get()
    }
  }
}
