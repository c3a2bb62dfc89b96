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
