// The attempts of a delivery, and its expiry.
extension OutboxRecord {
  /// Returns the delivery during an attempt.
  ///
  /// A count outside of `0..<maximumAttempts`, as an altered row may have, restarts at 1.
  package func leased(until end: Int64) -> Self {
    var leased = self
    leased.due = end
    leased.attempts = 0..<Self.maximumAttempts ~= attempts ? attempts + 1 : 1
    return leased
  }

  /// Returns `true` if it has not expired at a time.
  package func isInTime(at time: Int64) -> Bool { time <= expires }

  /// Returns the time of the next attempt after one that failed; `nil` if the delivery would have expired by then.
  ///
  /// - Parameters:
  ///   - wait: The waiting time, in seconds.
  ///   - time: When the attempt failed.
  /// - Returns: The time of the next attempt.
  package func nextAttempt(after wait: Int64, at time: Int64) -> Int64? {
    let next = time + wait
    return isInTime(at: next) ? next : nil
  }
}
