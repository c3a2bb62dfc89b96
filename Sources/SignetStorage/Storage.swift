/// The server's durable state: one contract, any number of databases behind it.
///
/// Every method is one atomic step and is durable when it returns. Where only one of several callers may win (a
/// one-time code, an invite, a decision), the method is a conditional write, so it holds between tasks, processes and
/// machines on one database. A method that takes an ``AuditEvent`` writes it in the same step as the change.
///
/// Times are whole seconds since 1970, as the caller's clock says: storage has no clock of its own.
/// `StorageContract` in `SignetTesting` is this contract as tests; every back end runs it.
public protocol Storage: Sendable {
  // MARK: Users

  /// Adds a user.
  ///
  /// - Throws: ``StorageFailure/exists`` when there is one of this id.
  func addUser(_ user: UserRecord, audit: AuditEvent) async throws(StorageFailure)
  /// The user of this id; `nil` for none.
  func user(_ id: String) async throws(StorageFailure) -> UserRecord?
  /// All users, by id.
  func users() async throws(StorageFailure) -> [UserRecord]
  /// Forgets a user's failed one-time codes.
  ///
  /// - Returns: Whether there is such a user.
  func unlockUser(_ id: String, audit: AuditEvent) async throws(StorageFailure) -> Bool

  // MARK: API keys

  /// Adds an API key.
  func addAPIKey(_ key: APIKeyRecord, audit: AuditEvent) async throws(StorageFailure)
  /// The key of this id, revoked or not; `nil` for none.
  func apiKey(_ id: String) async throws(StorageFailure) -> APIKeyRecord?
  /// All keys, oldest first.
  func apiKeys() async throws(StorageFailure) -> [APIKeyRecord]
  /// Revokes a key, unless it is the last good one of a scope that needs one.
  ///
  /// - Parameters:
  ///   - id: The key.
  ///   - scope: The scope of which one key stays good.
  ///   - time: When; a key that was revoked before keeps its time.
  ///   - audit: The event, written where the key is revoked.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  func revokeAPIKey(
    _ id: String, keepingOneOf scope: String, at time: Int64, audit: AuditEvent
  ) async throws(StorageFailure) -> RevocationOutcome

  // MARK: Activations

  /// Adds an open activation; an earlier open one of the same user is replaced by it.
  ///
  /// - Throws: ``StorageFailure/unknown`` when there is no such user.
  func addActivation(_ activation: ActivationRecord, audit: AuditEvent) async throws(StorageFailure)
  /// The user's open activation, whether or not it has expired; `nil` for none.
  func openActivation(user: String) async throws(StorageFailure) -> ActivationRecord?
  /// Ends one *finish* message: the proof was checked by the caller, this decides and remembers.
  ///
  /// An activation that is not open, has expired at `time`, or has `limit` failed attempts refuses whatever the proof
  /// was, so nothing is learnt from it. A wrong proof (`container` is `nil`) adds a failed attempt. A right one adds the
  /// container as pending, in the place of an earlier pending one of the same activation.
  func finishActivation(
    _ id: String, container: ContainerRecord?, limit: Int, at time: Int64,
    audit: @escaping @Sendable (ActivationOutcome) -> AuditEvent?
  ) async throws(StorageFailure) -> ActivationOutcome
  /// Makes a pending container active, its activation used, and revokes earlier ones of the same user and device.
  ///
  /// One that renews another becomes active only while that one is, and its activation stays as it is.
  func confirmContainer(
    _ id: String, at time: Int64, audit: @escaping @Sendable (ConfirmationOutcome) -> AuditEvent
  ) async throws(StorageFailure) -> ConfirmationOutcome

  // MARK: Containers

  /// The container of this id in any state; `nil` for none.
  func container(_ id: String) async throws(StorageFailure) -> ContainerRecord?
  /// A user's containers in every state, oldest first.
  func containers(user: String) async throws(StorageFailure) -> [ContainerRecord]
  /// Revokes a container for good.
  ///
  /// - Returns: Whether there is such a container.
  func revokeContainer(_ id: String, audit: AuditEvent) async throws(StorageFailure) -> Bool
  /// Notes that a container's device is to renew it.
  ///
  /// - Returns: Whether there is such a container in use.
  func askForRenewal(_ id: String, audit: AuditEvent) async throws(StorageFailure) -> Bool
  /// Ends one *finish* message of a renewal: what it proves was verified by the caller, this counts and remembers.
  ///
  /// A wrong one counts as a wrong signature of the container and as a failed code of its user; at the `limit` of either, any is
  /// refused, so nothing is learnt from it. A right one adds the successor as pending, in the place of an earlier pending one of
  /// the same container.
  ///
  /// - Parameters:
  ///   - id: The container that is renewed.
  ///   - successor: What comes in its place; `nil` where the present keys did not prove it.
  ///   - limit: Wrong signatures, or codes, in a row after which nothing is taken.
  ///   - audit: Makes the event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  func stageRenewal(
    of id: String, by successor: ContainerRecord?, limit: Int,
    audit: @escaping @Sendable (RenewalOutcome) -> AuditEvent
  ) async throws(StorageFailure) -> RenewalOutcome
  /// Revokes a container for good, and notes how its device ended it; the first time only.
  ///
  /// - Parameters:
  ///   - id: The container, in whatever state.
  ///   - ended: How, in the protocol's word.
  ///   - audit: The event, written the first time.
  /// - Returns: Whether this was the first time; no where there is no such container.
  /// - Throws: ``StorageFailure``.
  @discardableResult
  func endContainer(_ id: String, as ended: String, audit: AuditEvent) async throws(StorageFailure) -> Bool
  /// Claims the id of a signed request, 16 bytes; it can be claimed once.
  ///
  /// - Parameters:
  ///   - id: 16 bytes.
  ///   - container: Whose request it is.
  ///   - expires: When the id may be forgotten, because its request is too old by then.
  /// - Returns: Whether this call is the first.
  /// - Throws: ``StorageFailure``.
  func claimRequest(_ id: [UInt8], container: String, expires: Int64) async throws(StorageFailure) -> Bool

  // MARK: One-time passwords

  /// Ends one code check: the caller compared, this decides and remembers.
  ///
  /// A user with `limit` failed codes in a row is refused whatever the code was, so nothing is learnt from it.
  /// - Parameters:
  ///   - user: Whose code it should be.
  ///   - match: The container whose code it is and the code's counter; `nil` when no code fits.
  ///   - limit: Failed codes in a row after which nothing is accepted.
  ///   - audit: Makes the event.
  /// - Returns: How the check ended.
  /// - Throws: ``StorageFailure``.
  func submitCode(
    user: String, match: CodeMatch?, limit: Int, audit: @escaping @Sendable (CodeOutcome) -> AuditEvent
  ) async throws(StorageFailure) -> CodeOutcome

  // MARK: Transactions

  /// Adds a pending transaction.
  ///
  /// - Throws: ``StorageFailure/unknown`` when there is no such user.
  func addTransaction(_ transaction: TransactionRecord, audit: AuditEvent) async throws(StorageFailure)
  /// The transaction of this id; `nil` for none.
  func transaction(_ id: String) async throws(StorageFailure) -> TransactionRecord?
  /// A user's pending transactions that have not expired at `time`, oldest first, at most 64.
  func pendingTransactions(user: String, at time: Int64) async throws(StorageFailure) -> [TransactionRecord]
  /// Decides a transaction; the first decision wins.
  ///
  /// A container that sent `limit` wrong signatures in a row is refused whatever it sends, so nothing is learnt from it.
  ///
  /// - Parameters:
  ///   - id: The transaction.
  ///   - decision: What was decided, by which container.
  ///   - isSigned: Whether the container's key signed it: the caller verified, this counts and remembers.
  ///   - limit: Wrong signatures in a row after which nothing is taken.
  ///   - audit: Makes the event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  func decideTransaction(
    _ id: String, _ decision: DecisionRecord, isSigned: Bool, limit: Int,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditEvent
  ) async throws(StorageFailure) -> DecisionOutcome

  // MARK: Pushes

  /// Adds a target, unless its container is not in use or has `limit` of them.
  ///
  /// - Returns: Whether it was added.
  func addPushTarget(
    _ target: PushTargetRecord, limit: Int, audit: AuditEvent
  ) async throws(StorageFailure) -> Bool
  /// A container's targets, oldest first.
  func pushTargets(container: String) async throws(StorageFailure) -> [PushTargetRecord]
  /// The targets of a user's containers in use, oldest first.
  func pushTargets(user: String) async throws(StorageFailure) -> [PushTargetRecord]
  /// Changes the name of a container's target, what it is, or both.
  ///
  /// - Returns: Whether there is such a target.
  func changePushTarget(
    _ id: String, of container: String, name: String?, target: (service: String, sealed: [UInt8])?,
    audit: AuditEvent
  ) async throws(StorageFailure) -> Bool
  /// Removes a container's target.
  ///
  /// - Parameters:
  ///   - id: The target.
  ///   - container: Whose it is.
  ///   - sealed: What it has to be still; `nil` for whatever it is.
  ///   - audit: The event, written where it is removed.
  /// - Returns: Whether it was removed.
  /// - Throws: ``StorageFailure``.
  func removePushTarget(
    _ id: String, of container: String, ifSealed sealed: [UInt8]?, audit: AuditEvent
  ) async throws(StorageFailure) -> Bool
  /// Whose transactions were added, decided or ended after a change, by any process.
  ///
  /// - Parameter number: The last change that the caller knows; `nil` asks for the number of the last one only.
  /// - Returns: The users, for ten minutes at least after the change, and the number of the last one.
  /// - Throws: ``StorageFailure``.
  func transactionChanges(after number: Int64?) async throws(StorageFailure) -> TransactionChanges

  // MARK: Audit and upkeep

  /// Appends an event that goes with no other change.
  func append(_ event: AuditEvent) async throws(StorageFailure)
  /// Entries after the one with this number, oldest first, at most `limit`.
  func auditEntries(after number: Int64, limit: Int) async throws(StorageFailure) -> [AuditEntry]
  /// Marks what has expired at `time` and forgets claimed request ids that are too old to matter.
  ///
  /// - Returns: How many transactions expired; each gets the event that `audit` makes of its id.
  func sweep(at time: Int64, audit: @escaping @Sendable (String) -> AuditEvent) async throws(StorageFailure)
    -> Int
  /// Finishes what was begun and closes; later calls throw ``StorageFailure/closed``.
  func close() async
}
