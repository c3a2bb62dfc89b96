/// The rules for whether an authenticator could answer a request: services supply them, because storage does not interpret
/// requirements.
///
/// They may run again if a step is retried.
package struct AnswerRules: Sendable {
  /// The party that asks a UAF key to confirm a request.
  package enum Confirmation: Hashable, Sendable {
    /// The requester, by its own operation.
    case byRequester
    /// The server, by the operations that it has sent to the user's targets.
    case byServer
  }

  /// Returns `true` if an active container can answer a request.
  package var container: @Sendable (TransactionRecord, ContainerRecord) -> Bool = { _, _ in true }
  /// Returns `true` if an active UAF key can confirm a request.
  package var key: @Sendable (TransactionRecord, UAFCredentialRecord, Confirmation) -> Bool = {
    _, _, _ in true
  }
  /// Makes the event of a request that no authenticator can answer any more, from its id and the event that caused this.
  package var ended: @Sendable (_ request: TransactionID, _ cause: AuditRecord) -> AuditRecord = {
    AuditRecord(
      .transactionWithdrawn(transaction: $0, reason: EndRecord.noAuthenticator), by: $1.by, at: $1.time)
  }

  /// Makes rules by which every active authenticator can answer.
  package init() {}
}

extension AnswerRules {
  /// Returns `true` if one of the user's containers could answer a request.
  ///
  /// An offline container can: its device answers by digits. A locked container can only deny.
  package func canAnswer(_ request: TransactionRecord, by containers: [ContainerRecord]) -> Bool {
    containers.contains {
      $0.isInUse && (!$0.isLocked || !request.offersApproval) && container(request, $0)
    }
  }
}
