public import SignetCrypto

/// The server's durable state: one contract, any number of databases behind it.
///
/// Every method is one atomic step and is durable when it returns. Where only one of several callers may win (a
/// one-time code, an invite, a decision), the method is a conditional write, so it holds between tasks, processes and
/// machines on one database. A method that takes an ``AuditRecord`` writes it in the same step as the change.
///
/// Times are whole seconds since 1970, as the caller's clock says: storage has no clock of its own.
/// `StorageContract` in `SignetServerTesting` is this contract as tests; every back end runs it.
public protocol Storage: AccountStorage, ClientStorage, PushAuthStorage, UAFStorage {
  /// The same storage, whose rows that decide by themselves have codes under a key of the server's.
  ///
  /// A row without its code, or with another, is refused: who can write the database cannot make one up.
  ///
  /// - Parameter key: The key, which is not in the database.
  /// - Returns: A storage over the same connections; closing either closes both.
  func authenticatingRows(with key: HMACKey) -> any Storage

  // MARK: Users

  /// Adds a user.
  ///
  /// - Throws: ``StorageFailure/exists`` when there is one of this id.
  func addUser(_ user: UserRecord, audit: AuditRecord) async throws(StorageFailure)
  /// The user of this id; `nil` for none.
  func user(_ id: String) async throws(StorageFailure) -> UserRecord?
  /// All users, by id.
  func users() async throws(StorageFailure) -> [UserRecord]
  /// Forgets what failed: the codes and signatures of a user, and what addresses have to wait.
  ///
  /// - Returns: Whether there is such a user.
  func unlockUser(_ id: String, audit: AuditRecord) async throws(StorageFailure) -> Bool
  /// Sets the code of a user, as a keyed digest, or removes it; what addresses and clients have to wait is forgotten.
  ///
  /// - Returns: Whether there is such a user.
  func setUserCode(_ digest: [UInt8]?, of user: String, audit: AuditRecord) async throws(StorageFailure)
    -> Bool
  /// Makes one attempt to use a user's code: shows `judge` what the client has to wait, and writes down what it says, in one
  /// step, as ``attemptCode(_:judge:then:)`` does.
  ///
  /// - Parameters:
  ///   - attempt: Whose code, and who tries.
  ///   - judge: Judges; the caller compared.
  /// - Returns: The verdict's outcome.
  /// - Throws: ``StorageFailure``.
  func tryUserCode(
    _ attempt: CodeAttempt, judge: @escaping @Sendable (WaitRecord?) -> CodeVerdict
  ) async throws(StorageFailure) -> CodeOutcome

  // MARK: API keys

  /// Adds an API key.
  func addAPIKey(_ key: APIKeyRecord, audit: AuditRecord) async throws(StorageFailure)
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
    _ id: String, keepingOneOf scope: String, at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> RevocationOutcome

  // MARK: Activations

  /// Adds an open activation; an earlier open one of the same user is replaced by it.
  ///
  /// - Throws: ``StorageFailure/unknown`` when there is no such user.
  func addActivation(_ activation: ActivationRecord, audit: AuditRecord) async throws(StorageFailure)
  /// The user's open activation, whether or not it has expired; `nil` for none.
  func openActivation(user: String) async throws(StorageFailure) -> ActivationRecord?
  /// Ends one *finish* message: the proof was checked by the caller, this decides and remembers.
  ///
  /// An activation that is not open, has expired at `time`, or has `limit` failed attempts refuses whatever the proof
  /// was, so nothing is learnt from it. A wrong proof (`container` is `nil`) adds a failed attempt. A right one adds the
  /// container and its credential as pending, in the place of an earlier pending one of the same activation; unless one of its
  /// public keys belongs to another container, of whatever state.
  func finishActivation(
    _ id: String, container: NewContainer?, limit: Int, at time: Int64,
    audit: @escaping @Sendable (ActivationOutcome) -> AuditRecord?
  ) async throws(StorageFailure) -> ActivationOutcome
  /// Makes a pending container active, its activation used, and revokes earlier ones of the same user and device.
  ///
  /// One that renews another becomes active only while that one is, and its activation stays as it is.
  func confirmContainer(
    _ id: String, at time: Int64, audit: @escaping @Sendable (ConfirmationOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> ConfirmationOutcome

  // MARK: Containers

  /// The container of this id in any state; `nil` for none.
  func container(_ id: String) async throws(StorageFailure) -> ContainerRecord?
  /// A user's containers in every state, oldest first.
  func containers(user: String) async throws(StorageFailure) -> [ContainerRecord]
  /// Revokes a container for good, and forgets its credential.
  ///
  /// - Returns: Whether there is such a container.
  func revokeContainer(_ id: String, audit: AuditRecord) async throws(StorageFailure) -> Bool
  /// Notes that a container's device is to renew it.
  ///
  /// - Returns: Whether there is such a container in use.
  func askForRenewal(_ id: String, audit: AuditRecord) async throws(StorageFailure) -> Bool
  /// Ends one *finish* message of a renewal: what it proves was verified by the caller, this counts and remembers.
  ///
  /// A wrong one counts as a wrong signature and as a failed code of the container; at the `limit` of either, any is refused, so
  /// nothing is learnt from it. A right one adds the successor as pending, in the place of an earlier pending one of
  /// the same container; unless one of its public keys belongs to another container, the present one included.
  ///
  /// - Parameters:
  ///   - id: The container that is renewed.
  ///   - successor: What comes in its place; `nil` where the present keys did not prove it.
  ///   - limit: Wrong signatures, or codes, in a row after which nothing is taken.
  ///   - audit: Makes the event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  func stageRenewal(
    of id: String, by successor: NewContainer?, limit: Int,
    audit: @escaping @Sendable (RenewalOutcome) -> AuditRecord
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
  func endContainer(_ id: String, as ended: String, audit: AuditRecord) async throws(StorageFailure) -> Bool
  /// Looks at what is stored, past all that is remembered of it, and makes a durable change that means nothing.
  ///
  /// - Parameter time: Until when the change has to be kept, in seconds since 1970; that is, now.
  /// - Throws: ``StorageFailure`` where what is stored cannot be read, is damaged, or takes no change within some seconds.
  func checkReadiness(at time: Int64) async throws(StorageFailure)
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

  /// The credential of this id in any state; `nil` for none.
  func credential(_ id: String) async throws(StorageFailure) -> CredentialRecord?
  /// The tokens whose serial numbers come after this one, in the order of their bytes, at most `limit`.
  ///
  /// - Parameters:
  ///   - serial: The last one of the page before; empty for the first page.
  ///   - user: Whose; `nil` for all.
  ///   - limit: The most.
  /// - Returns: The tokens.
  /// - Throws: ``StorageFailure``.
  func tokens(after serial: String, user: String?, limit: Int) async throws(StorageFailure)
    -> [CredentialRecord]
  /// Adds those tokens whose serial numbers are new; one that is there stays as it is.
  ///
  /// - Parameters:
  ///   - tokens: The tokens; each has a serial number.
  ///   - audit: Makes the event of a token that was added.
  /// - Returns: The serial numbers that were added.
  /// - Throws: ``StorageFailure/unknown`` when there is no such user; then none was added.
  func addTokens(
    _ tokens: [CredentialRecord], audit: @escaping @Sendable (CredentialRecord) -> AuditRecord
  ) async throws(StorageFailure) -> [String]
  /// Gives a token to a user, or to nobody; it has to be verified again, and its failures are forgotten.
  ///
  /// - Parameters:
  ///   - serial: The token.
  ///   - user: The user; `nil` for nobody.
  ///   - audit: The event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  func assignToken(
    _ serial: String, to user: String?, audit: AuditRecord
  ) async throws(StorageFailure) -> TokenOutcome
  /// Takes a token out of use, or lets it be verified again.
  ///
  /// - Parameters:
  ///   - serial: The token.
  ///   - isDisabled: Whether it is out of use; otherwise it is pending where it was disabled.
  ///   - audit: The event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  func disableToken(
    _ serial: String, _ isDisabled: Bool, audit: AuditRecord
  ) async throws(StorageFailure) -> TokenOutcome
  /// Removes a token and its secret.
  ///
  /// - Returns: How it ended.
  func removeToken(_ serial: String, audit: AuditRecord) async throws(StorageFailure) -> TokenOutcome
  /// Makes one attempt to use codes: shows `judge` what there is, and writes down what it says, in one step.
  ///
  /// No other attempt, of any process, comes between the two: of two attempts with one code the later one finds that
  /// the earlier one has used it up. `judge` must do nothing else than judge; it may be called again where the step has to
  /// be repeated. A verdict after which a counter would be smaller is refused. With a revoked ``CodeAttempt/key`` nothing is
  /// judged or written.
  ///
  /// - Parameters:
  ///   - attempt: Whose codes, and who tries.
  ///   - judge: Judges.
  ///   - listener: Hears the verdict's outcome, or ``CodeOutcome/keyRevoked``, once it is durable; on the thread that writes, so
  ///     it must not block.
  func attemptCode(
    _ attempt: CodeAttempt, judge: @escaping @Sendable (CodeSituation) -> CodeVerdict,
    then listener: @escaping @Sendable (Result<CodeOutcome, StorageFailure>) -> Void)

  // MARK: Transactions

  /// Adds a transaction, unless its user is asked too often.
  ///
  /// One that nobody is named for is not counted; neither is one that a device made. With a revoked key nothing is
  /// written.
  ///
  /// - Parameters:
  ///   - transaction: What is added.
  ///   - key: The API key with which it is made; `nil` for none.
  ///   - limits: How often a user may be asked.
  ///   - audit: Makes the event.
  /// - Returns: Whether it was added.
  /// - Throws: ``StorageFailure/unknown`` when there is no such user, ``StorageFailure/exists`` when there is one of this id.
  func addTransaction(
    _ transaction: TransactionRecord, key: String?, limits: TransactionLimits,
    audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> AdmissionOutcome
  /// The transaction of this id; `nil` for none.
  func transaction(_ id: String) async throws(StorageFailure) -> TransactionRecord?
  /// A user's pending transactions that have not expired at `time`, oldest first, at most 64.
  func pendingTransactions(user: String, at time: Int64) async throws(StorageFailure) -> [TransactionRecord]
  /// Transactions, those that were made last first.
  ///
  /// - Parameters:
  ///   - filter: Which.
  ///   - id: Only what was made before this one; from the last where there is none of this id.
  ///   - time: Now: one that waits and is past its end has expired.
  ///   - limit: At most so many.
  /// - Returns: The transactions.
  /// - Throws: ``StorageFailure``.
  func transactions(
    _ filter: TransactionFilter, before id: String?, at time: Int64, limit: Int
  ) async throws(StorageFailure) -> [TransactionRecord]
  /// Decides a transaction; the first end wins.
  ///
  /// In one step: the signer is still the one whose keys were used, the request's id is used up, `judge` sees the transaction,
  /// and what it says is written down. A container that sent too many wrong signatures in a row is refused whatever it
  /// sends, so nothing is learnt from it. Where the number is wrong, that is counted, and at the limit the transaction is
  /// denied. A transaction for anybody becomes that of the container's user.
  ///
  /// - Parameters:
  ///   - attempt: The request.
  ///   - limits: Wrong signatures, and wrong numbers, after which nothing is taken.
  ///   - judge: Compares the decision with the transaction, which is the signer's user's or anybody's; it may be called
  ///     again where the step has to be repeated. Where it throws, nothing is changed.
  ///   - audit: Makes the event.
  ///   - listener: Hears how it ended, once that is durable; on the thread that writes, so it must not block.
  func decideTransaction(
    _ attempt: DecisionAttempt, limits: TransactionLimits,
    judge: @escaping @Sendable (TransactionRecord) throws(StorageFailure) -> DecisionVerdict,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord,
    then listener: @escaping @Sendable (Result<DecisionOutcome, StorageFailure>) -> Void)
  /// Ends a transaction without a decision; the first end wins. With a revoked key nothing is written.
  ///
  /// - Parameters:
  ///   - id: The transaction.
  ///   - end: How, by whom and why; one by a container has to be that of its user.
  ///   - isSuspicious: Whether the user finds that somebody else asked: the next transaction has to wait then.
  ///   - key: The API key of a relying party that ends it; `nil` for none.
  ///   - limits: How long the next has to wait.
  ///   - audit: Makes the event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  func endTransaction(
    _ id: String, _ end: EndRecord, isSuspicious: Bool, key: String?, limits: TransactionLimits,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> DecisionOutcome

  /// Adds what a device has made and its user has signed; it is accepted from the beginning.
  ///
  /// - Parameters:
  ///   - transaction: What is added, with its decision.
  ///   - isSigned: Whether the container's key signed it: the caller verified, this counts and remembers.
  ///   - limits: Wrong signatures after which nothing is taken.
  ///   - audit: Makes the event.
  /// - Returns: How it ended; `repeated` for the same content by the same container again.
  /// - Throws: ``StorageFailure``.
  func addInitiated(
    _ transaction: TransactionRecord, isSigned: Bool, limits: TransactionLimits,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> DecisionOutcome
  /// A user's transactions that a device has made, oldest first.
  ///
  /// - Parameters:
  ///   - user: Whose.
  ///   - id: Only what came after this one; from the beginning where there is none of this id.
  ///   - limit: At most so many.
  /// - Returns: The transactions.
  /// - Throws: ``StorageFailure``.
  func initiatedTransactions(
    user: String, after id: String?, limit: Int
  ) async throws(StorageFailure) -> [TransactionRecord]
  /// Ends one check of an answer that was carried from a device: the caller compared, this decides and remembers.
  ///
  /// A wrong answer counts as a refused code of each container of the user, and of the address; one of a container that has refused
  /// as many as may be is not taken, whatever it is. With a revoked key nothing is looked at or written, and within a wait the event
  /// alone is written.
  ///
  /// - Parameters:
  ///   - id: The transaction.
  ///   - attempt: Whose answer it is, and who carries it.
  ///   - attempts: Refused codes in a row after which nothing is taken from a container.
  ///   - limits: Those of transactions.
  ///   - waits: What the address has to wait now, in seconds, and from now on if the answer is wrong.
  ///   - audit: Makes the event.
  /// - Returns: How it ended; `notSigned` for a wrong answer.
  /// - Throws: ``StorageFailure``.
  func answerTransaction(
    _ id: String, _ attempt: AnswerAttempt, attempts: Int, limits: TransactionLimits,
    waits: @escaping @Sendable (WaitRecord?) -> (seconds: Int64?, next: WaitRecord),
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> DecisionOutcome

  // MARK: Signing keys

  /// All keys that the server signs or has signed with, oldest first.
  func signingKeys() async throws(StorageFailure) -> [SigningKeyRecord]
  /// Adds a signing key in the place of the present one, which is retired.
  ///
  /// - Parameters:
  ///   - key: The new one.
  ///   - present: The one that is to be the present one; `nil` where there is to be none. Else nothing is changed.
  ///   - audit: The event, written where the key is added.
  /// - Returns: Whether it was added.
  /// - Throws: ``StorageFailure``.
  func addSigningKey(
    _ key: SigningKeyRecord, replacing present: String?, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool

  // MARK: Pushes

  /// Adds a target, unless its container is not in use or has `limit` of them.
  ///
  /// - Returns: Whether it was added.
  func addPushTarget(
    _ target: PushTargetRecord, limit: Int, audit: AuditRecord
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
    audit: AuditRecord
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
    _ id: String, of container: String, ifSealed sealed: [UInt8]?, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool
  /// Whose transactions were added, decided or ended after a change, by any process.
  ///
  /// - Parameter number: The last change that the caller knows; `nil` asks for the number of the last one only.
  /// - Returns: The users, for ten minutes at least after the change, and the number of the last one.
  /// - Throws: ``StorageFailure``.
  func transactionChanges(after number: Int64?) async throws(StorageFailure) -> TransactionChanges

  // MARK: Audit and upkeep

  /// Appends an event that goes with no other change.
  func append(_ record: AuditRecord) async throws(StorageFailure)
  /// Entries after the one with this number, oldest first, at most `limit`.
  func auditEntries(after number: Int64, limit: Int) async throws(StorageFailure) -> [AuditEntry]
  /// Marks what has expired at `time` and forgets claimed request ids and waits that are too old to matter.
  ///
  /// - Returns: How many transactions expired; each gets the event that `audit` makes of its id.
  func sweep(at time: Int64, audit: @escaping @Sendable (String) -> AuditRecord) async throws(StorageFailure)
    -> Int
  /// Finishes what was begun and closes; later calls throw ``StorageFailure/closed``.
  func close() async
}

extension Storage {
  /// Makes one attempt as ``attemptCode(_:judge:then:)`` does, and waits for it.
  ///
  /// - Parameters:
  ///   - attempt: Whose codes, and who tries.
  ///   - judge: Judges.
  /// - Returns: The verdict's outcome, or ``CodeOutcome/keyRevoked``.
  /// - Throws: ``StorageFailure``.
  public func attemptCode(
    _ attempt: CodeAttempt, judge: @escaping @Sendable (CodeSituation) -> CodeVerdict
  ) async throws(StorageFailure) -> CodeOutcome {
    let result: Result<CodeOutcome, StorageFailure> = await withCheckedContinuation { continuation in
      attemptCode(attempt, judge: judge) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  /// Decides a transaction as ``decideTransaction(_:limits:judge:audit:then:)`` does, and waits for it.
  ///
  /// - Parameters:
  ///   - attempt: The request.
  ///   - limits: Wrong signatures, and wrong numbers, after which nothing is taken.
  ///   - judge: Compares the decision with the transaction.
  ///   - audit: Makes the event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  public func decideTransaction(
    _ attempt: DecisionAttempt, limits: TransactionLimits,
    judge: @escaping @Sendable (TransactionRecord) throws(StorageFailure) -> DecisionVerdict,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> DecisionOutcome {
    let result: Result<DecisionOutcome, StorageFailure> = await withCheckedContinuation { continuation in
      decideTransaction(attempt, limits: limits, judge: judge, audit: audit) {
        continuation.resume(returning: $0)
      }
    }
    return try result.get()
  }
}
