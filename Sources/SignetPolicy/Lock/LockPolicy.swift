/// The consequence of failed attempts to open a protected object.
///
/// ``validate()`` rejects values outside the allowed ranges, and every reader calls it. ``decision(after:at:)`` accepts any
/// value and never grants more than the nearest allowed value.
@nonexhaustive public enum LockPolicy: Sendable, Hashable {
  /// No consequence: attempts are unlimited.
  case none

  /// After `limit` failed attempts in a row, in ``allowedLimits``, no further attempt is possible.
  case lock(limit: Int, atLimit: LimitConsequence = .lockOut)

  /// After the nth failure in a row the next attempt waits `seconds * 2^(min(n, counter) - 1)` seconds.
  ///
  /// The wait doubles with each failure up to the `counter`th and then stays; attempts are unlimited.
  case delay(seconds: Int, counter: Int)

  /// After the nth failure in a row the next attempt waits `waits[n - 1]` seconds.
  ///
  /// The attempt after the last entry is the last one.
  case coolDown(waits: [Int], atLimit: LimitConsequence = .lockOut)

  /// The device cannot tell a right password from a wrong one; the server counts wrong ones.
  case silent

  /// The allowed limits: NIST SP 800-63B-4 section 3.2.2 allows at most 100 failures in a row.
  public static let allowedLimits = 1...100

  /// The longest wait after one failure, in seconds: a week.
  public static let longestWait = 7 * 86_400

  /// The allowed counters of a delay: with the largest, a delay of one second grows to six days.
  public static let allowedCounters = 1...20

  /// Waits of 0, 0, 60 and 180 seconds, and no attempt after the fifth.
  public static let fiveAttempts = LockPolicy.coolDown(waits: [0, 0, 60, 180])
}

/// The consequence when the last attempt has failed.
public enum LimitConsequence: String, Sendable, Hashable, CaseIterable {
  /// The object stays locked; it must be provisioned again.
  case lockOut
  /// The protected data is erased, and the server gets a receipt.
  case wipe
}

/// The decision about an attempt.
public enum AttemptDecision: Sendable, Hashable {
  /// Allowed; `remaining` counts the attempts left, this one included, and is `nil` if unlimited.
  case allowed(remaining: Int?)

  /// Refused for now: the attempt is not made and does not count; `remaining` attempts are left after the wait.
  case wait(Duration, remaining: Int?)

  /// Refused for ever: no later attempt is possible.
  case lockedOut

  /// Refused, and the protected data must be erased.
  case wipe
}

/// The state of a protected object's lock, known without an attempt.
public enum LockStatus: Sendable, Hashable {
  /// The last attempt succeeded, there was none, or the device cannot know.
  case unlocked

  /// The last attempt failed.
  ///
  /// `remaining` attempts are left, `nil` if unlimited. The next may be made after `retryAfter`, which is zero if it may be
  /// made at once.
  case lastAttemptFailed(remaining: Int?, retryAfter: Duration)

  /// No further attempt is possible.
  case lockedOut
}
