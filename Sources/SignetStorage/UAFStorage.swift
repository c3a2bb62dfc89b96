/// What UAF keeps: keys, operations and the devices that tokens are sent to.
///
/// It is a part of ``Storage``, whose rules hold here too.
public protocol UAFStorage: Sendable {
  // MARK: Keys

  /// A user's keys in any state, oldest first.
  func uafCredentials(user: String) async throws(StorageFailure) -> [UAFCredentialRecord]
  /// The key of this name in any state; `nil` for none.
  func uafCredential(aaid: String, keyID: [UInt8]) async throws(StorageFailure) -> UAFCredentialRecord?
  /// All keys, oldest first, at most `limit`.
  func uafCredentials(limit: Int) async throws(StorageFailure) -> [UAFCredentialRecord]
  /// Removes keys of a user.
  ///
  /// - Parameters:
  ///   - user: Whose.
  ///   - selection: Which; each may name many.
  ///   - audit: Makes the event of each one that was removed, of its model and its name.
  /// - Returns: How many there were.
  /// - Throws: ``StorageFailure``.
  func removeUAFCredentials(
    of user: String, _ selection: [UAFKeySelection],
    audit: @escaping @Sendable (String, [UInt8]) -> AuditRecord
  ) async throws(StorageFailure) -> Int

  /// Takes a key out of quarantine; its counter stays.
  ///
  /// - Returns: Whether it was there.
  func releaseUAFCredential(aaid: String, keyID: [UInt8], audit: AuditRecord) async throws(StorageFailure)
    -> Bool

  // MARK: Operations

  /// Adds an operation: one whose token waits, or one whose request is on its way.
  ///
  /// - Throws: ``StorageFailure/unknown`` when there is no such user, ``StorageFailure/exists`` when there is one of this id.
  func addUAFSession(_ session: UAFSessionRecord, audit: AuditRecord?) async throws(StorageFailure)
  /// Adds an operation that a stranger asked for, unless too many of the same client's were begun lately and not answered well.
  ///
  /// Lately is as long as the operation lasts.
  ///
  /// - Parameters:
  ///   - session: The operation, which has a client.
  ///   - limit: How many there may be.
  /// - Returns: Whether it was added.
  /// - Throws: ``StorageFailure``.
  func addUAFSession(_ session: UAFSessionRecord, ofClientWithAtMost limit: Int) async throws(StorageFailure)
    -> Bool
  /// The operation of this id; `nil` for none.
  func uafSession(_ id: String) async throws(StorageFailure) -> UAFSessionRecord?
  /// The operation whose token has this digest; `nil` for none.
  func uafSession(tokenDigest: [UInt8]) async throws(StorageFailure) -> UAFSessionRecord?
  /// The operations whose tokens wait for a target, newest first, at most 64.
  func pendingUAFSessions(target: String, at time: Int64) async throws(StorageFailure) -> [UAFSessionRecord]
  /// Redeems a token, which happens once.
  ///
  /// - Parameters:
  ///   - digest: Of the token.
  ///   - request: The request that is given for it.
  ///   - time: When.
  ///   - expires: Until when a response is taken.
  ///   - audit: The event, written where it is redeemed.
  /// - Returns: Whether this call redeemed it, in time.
  /// - Throws: ``StorageFailure``.
  func redeemUAFToken(
    _ digest: [UInt8], request: [UInt8], at time: Int64, until expires: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool
  /// Ends an operation without success.
  ///
  /// - Returns: Whether it was open.
  func failUAFSession(_ id: String, _ end: UAFSessionEnd, audit: AuditRecord) async throws(StorageFailure)
    -> Bool
  /// Ends a registration, whose response holds: adds its keys.
  ///
  /// An operation is taken once, before its time is over. A key that is registered already, of whomever, is not taken, and the
  /// operation has failed then.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - end: How it ends.
  ///   - credentials: The new keys, all of one user.
  ///   - limit: How many keys a user may have.
  ///   - audit: Makes the event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  func finishUAFRegistration(
    _ id: String, _ end: UAFSessionEnd, adding credentials: [UAFCredentialRecord], limit: Int,
    audit: @escaping @Sendable (UAFOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> UAFOutcome
  /// Ends a deregistration, whose request is given out: removes its keys, in the same step.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - user: Whose keys go, and whose operation it has to be.
  ///   - end: How it ends.
  ///   - selection: Which keys go; each may name many, or none that there is.
  ///   - audit: The event of its end.
  ///   - removed: Makes the event of each key that went, of its model and its name.
  /// - Returns: ``UAFOutcome/taken``, or ``UAFOutcome/over``, where nothing is removed.
  /// - Throws: ``StorageFailure``.
  func finishUAFDeregistration(
    _ id: String, of user: String, _ end: UAFSessionEnd, removing selection: [UAFKeySelection],
    audit: AuditRecord, removed: @escaping @Sendable (String, [UInt8]) -> AuditRecord
  ) async throws(StorageFailure) -> UAFOutcome
  /// Ends an authentication, whose signatures hold: judges the counters, stores them, and decides the transaction.
  ///
  /// An operation is taken once, before its time is over. A counter has to be 0 while the stored one is 0, or be greater than the
  /// stored one; else the key is in quarantine from now on, and the operation has failed.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - user: Whose keys they are.
  ///   - end: How it ends.
  ///   - uses: The keys with their counters.
  ///   - limits: Those of transactions.
  ///   - audit: Makes the event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  func finishUAFAuthentication(
    _ id: String, of user: String, _ end: UAFSessionEnd, uses: [UAFKeyUse], limits: TransactionLimits,
    audit: @escaping @Sendable (UAFOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> UAFOutcome

  // MARK: Devices

  /// Adds a target.
  ///
  /// - Parameters:
  ///   - target: The target.
  ///   - limit: How many a user may have.
  ///   - audit: The event, written where it is added.
  /// - Returns: Whether it was added; not where there are so many.
  /// - Throws: ``StorageFailure/unknown`` when there is no such user, ``StorageFailure/exists`` when the user has one of this name.
  func addUAFTarget(_ target: UAFTargetRecord, limit: Int, audit: AuditRecord) async throws(StorageFailure)
    -> Bool
  /// The target of this id; `nil` for none.
  func uafTarget(_ id: String) async throws(StorageFailure) -> UAFTargetRecord?
  /// A user's targets, oldest first.
  func uafTargets(user: String) async throws(StorageFailure) -> [UAFTargetRecord]
  /// The targets of a device, oldest first.
  func uafTargets(device: String) async throws(StorageFailure) -> [UAFTargetRecord]
  /// All targets, oldest first, at most `limit`.
  func uafTargets(limit: Int) async throws(StorageFailure) -> [UAFTargetRecord]
  /// Removes the targets of a user on a device, and the keys that the user has registered on it.
  ///
  /// - Returns: Whether there was any.
  func removeUAFDevice(_ device: String, of user: String, audit: AuditRecord) async throws(StorageFailure)
    -> Bool
  /// Changes a target.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: ``StorageFailure/exists`` when the user has another of this name.
  func changeUAFTarget(_ id: String, _ change: UAFTargetChange, audit: AuditRecord)
    async throws(StorageFailure)
    -> Bool
  /// Removes a target.
  ///
  /// - Returns: Whether there was one.
  func removeUAFTarget(_ id: String, audit: AuditRecord) async throws(StorageFailure) -> Bool
}
