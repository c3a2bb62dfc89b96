/// How many attempts in a row have failed, or began and have not yet succeeded, and when the last one began.
public struct AttemptState: Sendable, Hashable {
  /// The number of failed attempts since the last success, 0 or more.
  public let failedCount: Int

  /// When the last attempt was made; `nil` if none was, or nobody knows.
  public let lastAttempt: BootInstant?

  /// A state as it was stored.
  ///
  /// - Parameters:
  ///   - failedCount: Failed attempts since the last success. A negative number, which only damage can explain,
  ///     counts as the largest: it locks rather than gives guesses away.
  ///   - lastAttempt: When the last of them began; where it is missing, a wait counts from the start of the machine.
  public init(failedCount: Int = 0, lastAttempt: BootInstant? = nil) {
    self.failedCount = failedCount < 0 ? .max : failedCount
    self.lastAttempt = lastAttempt
  }

  /// The state to store before an attempt is made: the attempt counts as failed until it succeeds.
  ///
  /// - Parameter now: The moment of the attempt.
  /// - Returns: The state with one more failure.
  public func countingAttempt(at now: BootInstant) -> AttemptState {
    AttemptState(failedCount: failedCount == .max ? .max : failedCount + 1, lastAttempt: now)
  }

  /// The state to store after a success: nothing has failed.
  public static let afterSuccess = AttemptState()
}
