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
