/// A receiver of every event, with the lifetime of its deliveries.
package struct OutboxSubscription: Hashable, Sendable {
  /// The longest time from an event until its delivery expires: 30 days, in seconds.
  private static let longestLifetime: Int64 = 30 * 86_400

  /// The receiver.
  package let receiver: OutboxReceiver
  /// Seconds after an event until its delivery expires.
  package let lifetime: Int64

  /// Makes a subscription; the MAC does not cover the lifetime in the database, so it is clamped.
  package init(_ receiver: OutboxReceiver, lifetime: Int64) {
    self.receiver = receiver
    self.lifetime = min(max(0, lifetime), Self.longestLifetime)
  }

  /// Makes the delivery of an event, which is due immediately.
  package func delivery(of event: OutboxEvent, at time: Int64) -> OutboxRecord {
    OutboxRecord(number: 0, to: receiver, event, created: time, expires: time + lifetime, due: time)
  }
}

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
