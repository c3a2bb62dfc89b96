import SignetStorage

/// How one-time passwords are compared, and what slows down who guesses them.
///
/// Every number is an operator's, within a range (`docs/server-settings.md`). Each further step of a window is another code
/// that a guess may meet.
public struct OTPSettings: Hashable, Sendable {
  /// Steps of time that a code may be late.
  public var lookBack = 1
  /// Steps of time that a code may be early.
  public var lookAhead = 1
  /// How far a counter may be ahead of the last one that was used.
  public var counterLookAhead = 10
  /// How far two codes in a row may be from where they are expected, on either side for time.
  public var resyncWindow = 100
  /// How many steps of time single codes may move what is learnt of a clock.
  public var driftLimit = 20
  /// Refused attempts for one user from one address that cost no wait.
  public var freeAttempts = 3
  /// Seconds to wait after the next refused attempt; each further one doubles them.
  public var firstWait = 30
  /// The longest wait, in seconds.
  public var longestWait = 3600

  /// The defaults.
  public init() {}

  /// How long what an address has refused is remembered after its last attempt, in seconds.
  static let memory: Int64 = 86_400

  /// How long an address waits after so many refused attempts in a row, in seconds.
  ///
  /// - Parameter failures: Refused attempts in a row.
  /// - Returns: 0 for no wait.
  public func wait(after failures: Int) -> Int64 {
    guard failures > freeAttempts, firstWait > 0 else { return 0 }
    let doublings = failures - freeAttempts - 1
    // 2^17 seconds are more than the longest wait there may be.
    return Int64(doublings >= 17 ? longestWait : min(longestWait, firstWait << doublings))
  }

  /// The seconds that are left of a wait; `nil` for none.
  ///
  /// A wait that seems longer than it was set began before the clock was put back: how long ago is not known.
  func remaining(_ wait: WaitRecord?, at time: Int64) -> Int64? {
    guard let wait, wait.expires > time, wait.until > time else { return nil }
    let rest = wait.until - time
    return rest <= self.wait(after: wait.failures) ? rest : nil
  }

  /// The wait after one more refused attempt.
  func next(_ wait: WaitRecord?, at time: Int64) -> WaitRecord {
    // No MAC covers the count in the database, so it is taken within bounds.
    let before = min(max(0, wait.flatMap { $0.expires > time ? $0 : nil }?.failures ?? 0), 1_000_000)
    let failures = before + 1
    let seconds = self.wait(after: failures)
    return WaitRecord(failures: failures, until: time + seconds, expires: time + max(Self.memory, seconds))
  }

  /// Verifies a code that has no credential, such as a user's code that a client of OpenID Connect brings: what counts is what this
  /// client got wrong, for failures of the code would be everybody's.
  ///
  /// - Parameters:
  ///   - isRight: Whether it is the code.
  ///   - wait: What the client got wrong before.
  ///   - limit: Wrong ones in a row after which none is tried until the wait is forgotten.
  ///   - time: Now.
  /// - Returns: The outcome, and what the client has to wait.
  func verify(
    isRight: Bool, _ wait: WaitRecord?, limit: Int, at time: Int64
  ) -> (CodeOutcome, WaitRecord?) {
    let wait = wait.flatMap { $0.expires > time ? $0 : nil }
    if let seconds = remaining(wait, at: time) { return (.waiting(seconds: seconds), wait) }
    guard (wait?.failures ?? 0) < limit else { return (.locked, wait) }
    return isRight ? (.accepted, nil) : (.refused, next(wait, at: time))
  }
}
