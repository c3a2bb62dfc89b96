package import SignetStorage

/// A way to deliver events to receivers: creates a message for an event and sends it.
///
/// ``OutboxSender`` decides when and how often to try, and stores the outcome. It may deliver an event twice, which
/// receivers must tolerate.
package protocol OutboxDelivery: Sendable {
  var channel: OutboxChannel { get }

  /// Returns true if there is a receiver; without one, the sender reads no events.
  func hasReceivers() async throws(StorageFailure) -> Bool

  /// Makes one attempt.
  ///
  /// - Parameter record: The delivery, not expired and with a verified row.
  /// - Returns: The outcome.
  /// - Throws: A failure of this server; the sender tries again.
  func attempt(_ record: OutboxRecord) async throws -> DeliveryOutcome

  /// Returns the audit event of a delivery that has ended.
  ///
  /// - Parameters:
  ///   - record: The delivery.
  ///   - failure: The reason for the last failure; `nil` if the receiver acknowledged it.
  /// - Returns: The event; `nil` for none.
  func event(of record: OutboxRecord, failure: String?) -> AuditEvent?
}

package enum DeliveryOutcome: Hashable, Sendable {
  /// The receiver has acknowledged it.
  case acknowledged
  /// No message is needed.
  case needless
  /// The attempt failed permanently, for this reason.
  case failed(String)
  /// The attempt failed temporarily; `after` is the receiver's delay before a retry in seconds, if it stated one.
  case again(after: Int64?, String)
}
