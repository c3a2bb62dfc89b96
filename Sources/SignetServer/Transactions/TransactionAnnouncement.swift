public import SignetStorage

/// A new, stored transaction that the user's devices are notified of.
public struct TransactionAnnouncement: Sendable {
  /// The transaction.
  public let record: TransactionRecord
  /// The deliveries to authenticators without a list of waiting transactions; each may run once.
  let deliveries: [@Sendable () async -> Void]

  package init(_ record: TransactionRecord, deliveries: [@Sendable () async -> Void] = []) {
    (self.record, self.deliveries) = (record, deliveries)
  }
}
