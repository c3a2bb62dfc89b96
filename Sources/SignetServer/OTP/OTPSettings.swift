import SignetStorage

/// The settings to compare one-time passwords and to slow down guessing.
///
/// Operators can set each number within a range (`docs/server-settings.md`). Each further step of a window is one more code
/// that a guess may match.
package struct OTPSettings: Hashable, Sendable {
  /// The number of time steps that a code may be late.
  package var lookBack = 1
  /// The number of time steps that a code may be early.
  package var lookAhead = 1
  /// The largest distance of a counter from the last one used.
  package var counterLookAhead = 10
  /// The largest distance of two consecutive codes from the expected place; for time, in both directions.
  package var resyncWindow = 100
  /// The largest clock drift that single codes may set, in time steps.
  package var driftLimit = 20
  /// The number of rejected attempts for one user from one address without a wait.
  package var freeAttempts = 3
  /// The wait after the next rejected attempt, in seconds; it doubles with each further one.
  package var firstWait = 30
  /// The longest wait, in seconds.
  package var longestWait = 3600

  /// Creates the default settings.
  package init() {}

  /// The time for which rejected attempts of an address are remembered after the last one, in seconds.
  static let memory: Int64 = 86_400

  /// Returns the wait of an address after rejected attempts in a row, in seconds.
  ///
  /// - Parameter failures: The rejected attempts in a row.
  /// - Returns: The wait; 0 for none.
  package func wait(after failures: Int) -> Int64 {
    guard failures > freeAttempts, firstWait > 0 else { return 0 }
    let doublings = failures - freeAttempts - 1
    // 2^17 seconds exceed the largest allowed wait.
    return Int64(doublings >= 17 ? longestWait : min(longestWait, firstWait << doublings))
  }

  /// Returns the rest of a wait, in seconds; `nil` for none.
  ///
  /// If the rest exceeds the full wait, the clock was set back; the elapsed time is unknown and the wait counts as ended.
  func remaining(_ wait: WaitRecord?, at time: Int64) -> Int64? {
    guard let wait, wait.expires > time, wait.until > time else { return nil }
    let rest = wait.until - time
    return rest <= self.wait(after: wait.failures) ? rest : nil
  }

  /// Returns the wait after one more rejected attempt.
  func next(_ wait: WaitRecord?, at time: Int64) -> WaitRecord {
    // No MAC protects the count in the database, so it is limited to a range.
    let previousFailures = min(
      max(0, wait.flatMap { $0.expires > time ? $0 : nil }?.failures ?? 0), 1_000_000)
    let failures = previousFailures + 1
    let seconds = self.wait(after: failures)
    return WaitRecord(failures: failures, until: time + seconds, expires: time + max(Self.memory, seconds))
  }

  /// Verifies a code without a credential, such as a user's code from an OpenID Connect client.
  ///
  /// Only this client's failures count. A count for the code itself would let one client lock out all others.
  ///
  /// - Parameters:
  ///   - isRight: True if the code is right.
  ///   - wait: The client's failures so far.
  ///   - limit: The number of failures in a row that locks the client out until the wait is forgotten.
  ///   - time: The current time, in seconds since 1970.
  /// - Returns: The outcome and the client's new wait.
  func verify(
    isRight: Bool, _ wait: WaitRecord?, limit: Int, at time: Int64
  ) -> (CodeOutcome, WaitRecord?) {
    let wait = wait.flatMap { $0.expires > time ? $0 : nil }
    if let seconds = remaining(wait, at: time) { return (.waiting(seconds: seconds), wait) }
    guard (wait?.failures ?? 0) < limit else { return (.locked, wait) }
    return isRight ? (.accepted, nil) : (.refused, next(wait, at: time))
  }
}
