/// What ``Storage`` keeps of OpenID Connect: clients, what they have asked, and what they are told.
public protocol ClientStorage: Sendable {
  /// Adds a client.
  func addClient(_ client: ClientRecord, audit: AuditRecord) async throws(StorageFailure)
  /// The client of this id, revoked or not; `nil` for none.
  func client(_ id: String) async throws(StorageFailure) -> ClientRecord?
  /// All clients, oldest first.
  func clients() async throws(StorageFailure) -> [ClientRecord]
  /// Revokes a client for good: it is told nothing any more, and what it has asked and nobody has decided is withdrawn.
  ///
  /// - Parameters:
  ///   - id: The client.
  ///   - time: When; one that was revoked before keeps its time.
  ///   - audit: The event.
  ///   - withdrawal: Makes the event of a transaction that is withdrawn.
  /// - Returns: Whether there is such a client.
  /// - Throws: ``StorageFailure``.
  func revokeClient(
    _ id: String, at time: Int64, audit: AuditRecord, withdrawal: @escaping @Sendable (String) -> AuditRecord
  ) async throws(StorageFailure) -> Bool
  /// Adds a transaction as ``Storage/addTransaction(_:key:limits:audit:)`` does, and in the same step the client's request that it is.
  ///
  /// Of a revoked client nothing is written.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - transaction: The transaction that it names.
  ///   - limits: How often a user may be asked.
  ///   - audit: Makes the event.
  /// - Returns: Whether they were added.
  /// - Throws: ``StorageFailure/unknown`` when there is no such user or client.
  func addBackchannelRequest(
    _ request: BackchannelRecord, asking transaction: TransactionRecord, limits: TransactionLimits,
    audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> AdmissionOutcome
  /// Looks how a request stands, for its client, and counts that while nothing is decided.
  ///
  /// - Parameters:
  ///   - digest: Of which request.
  ///   - client: Who asks.
  ///   - time: When.
  ///   - step: How many more seconds have to pass between two polls after one that comes too soon.
  ///   - limit: The most seconds that have to pass between two polls.
  ///   - audit: Makes the event of a transaction that is found to have expired.
  /// - Returns: What was found.
  /// - Throws: ``StorageFailure``.
  func pollBackchannelRequest(
    _ digest: [UInt8], of client: String, at time: Int64, step: Int64, limit: Int64,
    audit: @escaping @Sendable (String) -> AuditRecord
  ) async throws(StorageFailure) -> PollOutcome
  /// Notes that the tokens of a request are given out, which happens once, in time, and to no revoked client.
  ///
  /// - Parameters:
  ///   - digest: Of which request.
  ///   - client: To whom.
  ///   - time: When; a client that asks has to be there before the request expires.
  ///   - window: For how many seconds after the decision a client may be told them.
  ///   - audit: The event, written the first time.
  /// - Returns: Whether this was the first time.
  /// - Throws: ``StorageFailure``.
  func issueTokens(
    for digest: [UInt8], of client: String, at time: Int64, pushedWithin window: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool
  /// The requests whose clients are to be told now how they ended.
  ///
  /// What ends a transaction makes that due, in the same step.
  ///
  /// - Parameters:
  ///   - time: When.
  ///   - limit: The most of one client.
  /// - Returns: Those that are due for longest, at most 256.
  /// - Throws: ``StorageFailure``.
  func dueNotices(
    at time: Int64, limitPerClient limit: Int
  ) async throws(StorageFailure) -> [BackchannelRecord]
  /// Claims one try to tell a client; whoever dies over it leaves it due at the end of the claim.
  ///
  /// - Parameters:
  ///   - digest: Of which request.
  ///   - due: When it was due, as the caller found it.
  ///   - end: When it is due again.
  /// - Returns: Whether the caller has it.
  /// - Throws: ``StorageFailure``.
  func claimNotice(_ digest: [UInt8], due: Int64, until end: Int64) async throws(StorageFailure) -> Bool
  /// Ends a try to tell a client.
  ///
  /// - Parameters:
  ///   - digest: Of which request.
  ///   - due: The end of the claim; where another has claimed it since, nothing is changed.
  ///   - next: When to try again; `nil` where nothing is left to do.
  ///   - audit: The event, if there is one.
  /// - Returns: Whether the claim still held.
  /// - Throws: ``StorageFailure``.
  func endNotice(
    _ digest: [UInt8], due: Int64, next: Int64?, audit: AuditRecord?
  ) async throws(StorageFailure) -> Bool
}
