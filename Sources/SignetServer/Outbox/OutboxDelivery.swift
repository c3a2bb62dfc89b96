package import SignetStorage

/// One way of telling receivers of events: it makes a message of an event and sends it.
///
/// When to try, how often, and what became of it is ``OutboxSender``'s matter. An event may be delivered twice: who is sent it has to
/// bear that.
package protocol OutboxDelivery: Sendable {
  /// Whose deliveries these are.
  var channel: OutboxChannel { get }

  /// Whether there is anybody to tell; nothing is looked up while there is not.
  func hasReceivers() async throws(StorageFailure) -> Bool

  /// Makes one attempt.
  ///
  /// - Parameter record: The delivery: in time, and as this server wrote it.
  /// - Returns: How it ended.
  /// - Throws: What went wrong at this server; it is tried again.
  func attempt(_ record: OutboxRecord) async throws -> DeliveryOutcome

  /// What the audit log says of a delivery that has ended.
  ///
  /// - Parameters:
  ///   - record: The delivery.
  ///   - failure: Why it was given up; `nil` where it was acknowledged.
  /// - Returns: The event; `nil` for none.
  func event(of record: OutboxRecord, failure: String?) -> AuditEvent?
}

/// How an attempt to deliver an event ended.
package enum DeliveryOutcome: Hashable, Sendable {
  /// The receiver has acknowledged it.
  case acknowledged
  /// There is nothing to tell.
  case needless
  /// Trying again does not help, for this reason.
  case failed(String)
  /// It may help; the receiver may have said after how many seconds.
  case again(told: Int64?, String)
}
