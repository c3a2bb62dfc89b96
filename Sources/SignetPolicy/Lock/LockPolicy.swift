/// What failed attempts to open a protected object cost.
///
/// Values outside the allowed ranges are refused by ``validate()``, which every reader calls; whatever a value is,
/// ``decision(after:at:)`` is total and never grants more than the nearest allowed value.
@nonexhaustive public enum LockPolicy: Sendable, Hashable {
  /// Nothing: attempts are not limited.
  case none

  /// After `limit` failed attempts in a row, in ``allowedLimits``, no further one is possible.
  case lock(limit: Int, atLimit: LimitConsequence = .lockOut)

  /// After the nth failure in a row the next attempt waits `seconds * 2^(min(n, counter) - 1)` seconds.
  ///
  /// The wait doubles with each failure until the `counter`th and then stays; there is no last attempt.
  case delay(seconds: Int, counter: Int)

  /// After the nth failure in a row the next attempt waits `waits[n - 1]` seconds, and the failure after the last
  /// entry is the last attempt.
  case coolDown(waits: [Int], atLimit: LimitConsequence = .lockOut)

  /// Nothing on the device tells a right password from a wrong one; the server counts what is wrong.
  case silent

  /// The limits that make sense: NIST SP 800-63B-4 section 3.2.2 allows at most 100 failures in a row.
  public static let allowedLimits = 1...100

  /// The longest wait after one failure, in seconds: a week.
  public static let longestWait = 7 * 86_400

  /// The counters of a delay: at the largest, a delay of one second grows to six days.
  public static let allowedCounters = 1...20

  /// Waits of 0, 0, 60 and 180 seconds, and no attempt after the fifth.
  public static let fiveAttempts = LockPolicy.coolDown(waits: [0, 0, 60, 180])
}

/// What happens when the last attempt has failed.
public enum LimitConsequence: String, Sendable, Hashable, CaseIterable {
  /// The object stays, locked; it must be provisioned again.
  case lockOut
  /// What is protected is erased, and the server gets a receipt.
  case wipe
}

/// Whether an attempt may be made.
public enum AttemptDecision: Sendable, Hashable {
  /// It may; `remaining` counts the attempts left, this one included, and is `nil` where unlimited.
  case allowed(remaining: Int?)

  /// Not yet: it is refused without being tried and does not count; `remaining` attempts are left after the wait.
  case wait(Duration, remaining: Int?)

  /// It may not, and no later one may either.
  case lockedOut

  /// It may not, and what is protected is to be erased.
  case wipe
}

/// What can be said about a protected object's lock without an attempt.
public enum LockStatus: Sendable, Hashable {
  /// The last attempt succeeded, or there was none, or the device cannot know.
  case unlocked

  /// The last attempt failed.
  ///
  /// `remaining` attempts are left, `nil` where unlimited; the next may be made after `retryAfter`, which is zero
  /// when it may be made at once.
  case lastAttemptFailed(remaining: Int?, retryAfter: Duration)

  /// No attempt will ever be possible.
  case lockedOut
}
