/// Who could answer a request, as services have it: steps of storage know rows, and nothing of what is required.
///
/// A step may be repeated, and asks again then.
public struct AnswerRules: Sendable {
  /// Who has a UAF key confirm a request.
  public enum Confirmation: Hashable, Sendable {
    /// Who asked it, by an operation of its own.
    case byAsker
    /// The server, by the operations that it has sent to the user's targets.
    case byServer
  }

  /// Whether an active container can answer a request.
  public var container: @Sendable (TransactionRecord, ContainerRecord) -> Bool = { _, _ in true }
  /// Whether an active UAF key can confirm a request.
  public var key: @Sendable (TransactionRecord, UAFCredentialRecord, Confirmation) -> Bool = {
    _, _, _ in true
  }
  /// Makes the event of a request that has ended because nothing could answer it any more, of its id and of the event after which
  /// that was so.
  public var ended: @Sendable (_ request: TransactionID, _ cause: AuditRecord) -> AuditRecord = {
    AuditRecord(
      .transactionWithdrawn(transaction: $0, reason: EndRecord.noAuthenticator), by: $1.by, at: $1.time)
  }

  /// Rules by which everything that is in use can answer.
  public init() {}
}
