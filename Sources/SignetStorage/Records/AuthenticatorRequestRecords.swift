/// The ways in which a user is asked about a transaction by authenticators that cannot list pending requests.
///
/// They are stored in the step that adds the transaction, and end in the step that ends it. They do not count against the
/// user's budget, because the transaction does.
package struct AuthenticatorRequestRecords: Sendable {
  /// UAF operations whose tokens go to targets of the user, each with its event.
  package var sessions: [(record: UAFOperationRecord, audit: AuditRecord)] = []
  /// Messages to authenticator apps of the user, each with its event.
  package var messages: [(record: PushAuthMessageRecord, audit: AuditRecord)] = []
  /// Indicates whether the requester may make its own operation without a target, which any UAF key of the user can answer.
  package var mayAskUAFKeys = false

  /// Asks only containers.
  package init() {}
}

/// A transaction that only a UAF operation answers, and that is stored in the step that adds the operation.
package struct UAFOnlyTransaction: Sendable {
  /// The transaction, which names the kind.
  package var transaction: TransactionRecord
  /// The id of the requester's API key.
  package var key: ID<APIKeyRecord>
  /// Makes the event of the transaction.
  package var audit: @Sendable (AdmissionOutcome) -> AuditRecord

  /// Combines the parts.
  package init(
    _ transaction: TransactionRecord, key: ID<APIKeyRecord>,
    audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord
  ) {
    self.transaction = transaction
    self.key = key
    self.audit = audit
  }
}
