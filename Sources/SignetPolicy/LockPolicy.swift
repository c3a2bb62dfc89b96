/// What failed attempts to open a protected object cost.
@nonexhaustive public enum LockPolicy: Sendable, Hashable {
  /// Nothing: attempts are not limited.
  case none

  /// After `limit` failed attempts in a row the object stays locked and must be provisioned again.
  ///
  /// The limit is in ``allowedLimits``; a larger or smaller one is refused when read from JSON, and
  /// ``decision(after:)`` never allows more than the upper end.
  case lock(limit: Int)

  /// The limits that make sense: NIST SP 800-63B section 5.2.2 allows at most 100 failures in a row.
  public static let allowedLimits = 1...100

  /// Whether one more attempt may be made.
  ///
  /// Ask before the attempt, and store `state.countingAttempt()` durably before trying it, so that
  /// neither a crash nor a second process gains a guess.
  ///
  /// - Parameter state: What was counted so far.
  /// - Returns: Whether the attempt may be made, and how many are left with it.
  public func decision(after state: AttemptState) -> AttemptDecision {
    switch self {
    case .none:
      return .allowed(remaining: nil)
    case .lock(let limit):
      let remaining = min(limit, Self.allowedLimits.upperBound) - state.failedCount
      return remaining > 0 ? .allowed(remaining: remaining) : .lockedOut
    }
  }
}

/// How many attempts in a row have failed, or began and have not yet succeeded.
public struct AttemptState: Sendable, Hashable {
  /// The number of failed attempts since the last success, 0 or more.
  public let failedCount: Int

  /// A state as it was stored.
  ///
  /// - Parameter failedCount: Failed attempts since the last success. A negative number, which only
  ///   damage can explain, counts as the largest: it locks rather than gives guesses away.
  public init(failedCount: Int = 0) {
    self.failedCount = failedCount < 0 ? .max : failedCount
  }

  /// The state to store before an attempt is made: the attempt counts as failed until it succeeds.
  public func countingAttempt() -> AttemptState {
    AttemptState(failedCount: failedCount == .max ? .max : failedCount + 1)
  }

  /// The state to store after a success: nothing has failed.
  public static let afterSuccess = AttemptState()
}

/// Whether an attempt may be made.
public enum AttemptDecision: Sendable, Hashable {
  /// It may; `remaining` counts the attempts left, this one included, and is `nil` where unlimited.
  case allowed(remaining: Int?)

  /// It may not, and no later one may either.
  case lockedOut
}
