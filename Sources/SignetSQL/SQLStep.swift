public import SignetSystem

/// A queued step, without the type of its value.
///
/// Its closures are made, and specialized, where the type of the value is known: in the hottest paths, generic type metadata
/// lookups took as long as the statements.
@usableFromInline final class SQLStep: Sendable {
  /// Runs the body, stores its result until ``finish``, and returns its error.
  ///
  /// It may run again.
  let attempt: @Sendable (SQLConnection) -> (any Error)?

  /// Settles the caller's completion with the body's result, or with the failure of the commit.
  let finish: @Sendable ((any Error)?) -> Void

  @usableFromInline init(
    attempt: @escaping @Sendable (SQLConnection) -> (any Error)?,
    finish: @escaping @Sendable ((any Error)?) -> Void
  ) {
    (self.attempt, self.finish) = (attempt, finish)
  }
}

extension SQLDatabase {
  /// Makes a step that settles a completion.
  @inlinable func step<Value: Sendable>(
    _ body: @escaping @Sendable (SQLConnection) throws -> Value, _ completion: Completion<Value>,
    naming failure: @escaping @Sendable (any Error) -> any Error
  ) -> SQLStep {
    SQLStep { connection in
      // A failed statement fails the step even if the body ignored the error.
      let outcome = Result {
        let value = try body(connection)
        if let failure = connection.failure { throw failure }
        return value
      }
      completion.prepare(outcome.mapError(failure))
      if case .failure(let error) = outcome { return error }
      return nil
    } finish: { cause in
      if let cause { completion.settle(.failure(failure(cause))) } else { completion.settle() }
    }
  }
}
