public import SignetConcurrency

/// A step that waits for its turn: what runs it knows neither its value nor its caller.
///
/// Its closures are made where the type of the value is known, and compiled for that type: in the hottest paths, looking up the metadata
/// of generic types took as long as the statements.
@usableFromInline final class SQLStep: Sendable {
  /// Runs the body, whose result is kept until ``finish``, and says what it threw.
  ///
  /// It may run again.
  let attempt: @Sendable (SQLConnection) -> (any Error)?

  /// Tells the caller: what the body returned or threw, or the failure of the commit.
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
      // A failure that the body swallowed fails the step all the same.
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
