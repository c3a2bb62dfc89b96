// How often a delivery is tried, and when it is given up.
extension OutboxRecord {
  /// The delivery while an attempt is under way.
  ///
  /// A count outside of `0..<mostAttempts`, as an altered row may have, begins anew at 1.
  package func leased(until end: Int64) -> Self {
    var leased = self
    leased.due = end
    leased.attempts = 0..<Self.mostAttempts ~= attempts ? attempts + 1 : 1
    return leased
  }

  /// Whether it is worth an attempt at a time.
  package func isInTime(at time: Int64) -> Bool { time <= expires }

  /// When the next attempt is due after one that failed; `nil` to give the delivery up, which would be too late then.
  ///
  /// - Parameters:
  ///   - wait: How long to wait, in seconds.
  ///   - time: When the attempt failed.
  /// - Returns: The time of the next attempt.
  package func nextAttempt(after wait: Int64, at time: Int64) -> Int64? {
    let next = time + wait
    return isInTime(at: next) ? next : nil
  }
}
