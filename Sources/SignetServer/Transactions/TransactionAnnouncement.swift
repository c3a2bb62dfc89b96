public import SignetStorage

/// A transaction that was made, and is on the disk: what its user's devices are told of it.
public struct TransactionAnnouncement: Sendable {
  /// The transaction.
  public let record: TransactionRecord
  /// What goes to authenticators that have no list of what waits; each may be run once.
  let deliveries: [@Sendable () async -> Void]

  package init(_ record: TransactionRecord, deliveries: [@Sendable () async -> Void] = []) {
    (self.record, self.deliveries) = (record, deliveries)
  }
}
