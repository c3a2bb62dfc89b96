public import Synchronization

/// A result that arrives later, for one listener: an awaiting task, or a callback if a task for each request is too slow.
@usableFromInline package final class Completion<Value: Sendable>: Sendable {
  /// A closure that receives the result once.
  @usableFromInline package typealias Listener = @Sendable (Result<Value, any Error>) -> Void

  @usableFromInline struct State {
    @usableFromInline var result: Result<Value, any Error>?
    @usableFromInline var listener: Listener?
    @usableFromInline var isSettled: Bool
    @usableFromInline var hasListener: Bool

    @inlinable init() {
      result = nil
      listener = nil
      isSettled = false
      hasListener = false
    }
  }

  @usableFromInline let state: Mutex<State>

  /// Creates a completion that ``settle(_:)`` ends.
  @inlinable package init() {
    // Here, because initial values in a declaration cannot be inlined: each completion would look up generic types.
    state = Mutex(State())
  }

  /// Stores a result, replacing a stored one, until ``settle()`` ends the completion with it.
  ///
  /// - Precondition: The completion has not ended.
  @inlinable package func prepare(_ result: Result<Value, any Error>) {
    state.withLock { state in
      precondition(!state.isSettled, "a completion ends once")
      state.result = result
    }
  }

  /// Ends the completion with the stored result.
  ///
  /// - Precondition: There is a stored result, and the completion has not ended.
  @inlinable package func settle() {
    let (listener, result) = state.withLock { state -> (Listener?, Result<Value, any Error>) in
      guard !state.isSettled, let result = state.result else {
        preconditionFailure("a completion ends once, with a result")
      }
      state.isSettled = true
      let listener = state.listener
      if listener != nil { (state.result, state.listener) = (nil, nil) }
      return (listener, result)
    }
    listener?(result)
  }

  /// Ends the completion.
  ///
  /// - Precondition: The completion has not ended.
  @inlinable package func settle(_ result: Result<Value, any Error>) {
    prepare(result)
    settle()
  }

  /// Calls `listener` with the result: at once if available, otherwise on the settling thread, which it must not block.
  ///
  /// - Precondition: There is no other listener.
  @inlinable package func then(_ listener: @escaping Listener) {
    let result = state.withLock { state -> Result<Value, any Error>? in
      precondition(!state.hasListener, "a completion has one listener")
      state.hasListener = true
      guard state.isSettled else {
        state.listener = listener
        return nil
      }
      return state.result.take()
    }
    if let result { listener(result) }
  }

  /// A completion with the transformed value; `transform` runs on the thread that settles this one.
  @inlinable package func map<Other: Sendable>(
    _ transform: @escaping @Sendable (Value) throws -> Other
  ) -> Completion<Other> {
    let other = Completion<Other>()
    then { result in other.settle(Result { try transform(result.get()) }) }
    return other
  }

  @inlinable package var value: Value {
    get async throws {
      try await withCheckedContinuation { continuation in then { continuation.resume(returning: $0) } }.get()
    }
  }
}
