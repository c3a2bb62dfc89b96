/// Where the answer to one question of an operation goes.
///
/// It is good once: the first answer counts, also where several tasks give one at the same moment, and the others are told so.
/// Where it is let go of without an answer, nobody can answer any more, and the operation ends with
/// ``UAFClientError/userNotResponsive`` at once, as it does when the time for an answer is up.
public final class UAFAnswer<Value: Sendable>: Sendable {
  private let slot: OneShotContinuation<Value>

  init(_ slot: OneShotContinuation<Value>) { self.slot = slot }

  deinit { slot.settle(.dropped) }

  /// Answers.
  ///
  /// - Parameter value: The answer.
  /// - Returns: Whether it counts; false where there was an answer before, or the time was up.
  @discardableResult
  public func give(_ value: Value) -> Bool { slot.settle(.given(value)) }

  /// Says that the person does not want to go on; the operation ends with ``UAFClientError/userCancelled``.
  ///
  /// - Returns: Whether it counts; false where there was an answer before, or the time was up.
  @discardableResult
  public func cancel() -> Bool { slot.settle(.cancelled) }
}
