/// How a user is asked a transaction by authenticators that have no list of what waits for them.
///
/// It is stored in the step that adds the transaction, and ends in the step that ends it. Nothing of it is counted against the user:
/// the transaction is.
public struct TransactionAsking: Sendable {
  /// UAF operations whose tokens go to targets of the user, each with its event.
  public var sessions: [(record: UAFOperationRecord, audit: AuditRecord)] = []
  /// Messages to authenticator apps of the user, each with its event.
  public var messages: [(record: PushAuthMessageRecord, audit: AuditRecord)] = []
  /// Whether who asks may have any UAF key of the user answer by an operation of its own, without a target.
  public var mayAskUAFKeys = false

  /// Nothing but containers.
  public init() {}
}

/// A transaction that an operation of UAF alone answers, and that is stored in the step that adds the operation.
public struct UAFAsking: Sendable {
  /// The transaction, which names the kind.
  public var transaction: TransactionRecord
  /// The id of the API key of who asks.
  public var key: ID<APIKeyRecord>
  /// Makes the event of the transaction.
  public var audit: @Sendable (AdmissionOutcome) -> AuditRecord

  /// Names the parts.
  public init(
    _ transaction: TransactionRecord, key: ID<APIKeyRecord>,
    audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord
  ) {
    (self.transaction, self.key, self.audit) = (transaction, key, audit)
  }
}
