/// The count of failed or unfinished attempts since the last success, and the start of the last attempt.
public struct AttemptState: Sendable, Hashable {
  /// The number of failed attempts since the last success, 0 or more.
  public let failedCount: Int

  /// The moment of the last attempt; `nil` if there was none or it is unknown.
  public let lastAttempt: BootInstant?

  /// Restores a stored state.
  ///
  /// - Parameters:
  ///   - failedCount: Failed attempts since the last success. A negative number can only come from damage and counts as the
  ///     maximum: the object locks and an attacker gains no guesses.
  ///   - lastAttempt: The start of the last attempt; if it is missing, a wait counts from the start of the machine.
  public init(failedCount: Int = 0, lastAttempt: BootInstant? = nil) {
    self.failedCount = failedCount < 0 ? .max : failedCount
    self.lastAttempt = lastAttempt
  }

  /// Returns the state to store before an attempt: the attempt counts as failed until it succeeds.
  ///
  /// - Parameter now: The moment of the attempt.
  /// - Returns: The state with one more failure.
  public func countingAttempt(at now: BootInstant) -> AttemptState {
    AttemptState(failedCount: failedCount == .max ? .max : failedCount + 1, lastAttempt: now)
  }

  /// The state to store after a success: no failures.
  public static let afterSuccess = AttemptState()
}
