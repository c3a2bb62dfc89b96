package import SignetStorage

// Short helpers for the checks of users.

extension Sample {
  static func uafOperation(
    _ id: ID<UAFOperationRecord>, _ operation: String = "Auth", of user: UserID?
  ) -> UAFOperationRecord {
    var session = UAFOperationRecord(
      id: id, operation: operation, user: user, context: "{}", created: 1000, expires: 1100, state: .requested
    )
    session.request = [1, 2]
    return session
  }

  static func mechanism(_ id: ID<PushAuthMechanismRecord>, of user: UserID) -> PushAuthMechanismRecord {
    PushAuthMechanismRecord(
      id: id, user: user, sealedSecret: [1], challenge: [2], created: 1000, expires: 1900)
  }

  /// Returns a message of the transaction with the same ID.
  static func message(
    _ id: TransactionID, to mechanism: ID<PushAuthMechanismRecord>, expires: Int64 = 1100
  ) -> PushAuthMessageRecord {
    PushAuthMessageRecord(
      id: "\(id)", of: id, mechanism: mechanism, kind: "default", challenge: [3], created: 1000,
      expires: expires)
  }
}

extension PushAppDecision {
  package static let yes = PushAppDecision.approved { _ in true }
}

extension Storage {
  /// Adds a transaction of a user that only one app can answer, with its message.
  package func ask(
    _ message: PushAuthMessageRecord, of user: UserID, by requester: String? = nil, limits: TransactionLimits,
    audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord = { StorageContract.event("\($0)") }
  ) async throws -> AdmissionOutcome {
    var transaction = TransactionRecord(
      id: message.transaction, user: user, content: #"{"from":"Example Bank","signIn":true}"#,
      created: message.created, expires: message.expires)
    (transaction.soleKind, transaction.requester) = (.pushApp, requester)
    var authenticatorRequests = AuthenticatorRequestRecords()
    authenticatorRequests.messages = [(message, StorageContract.event("message"))]
    return try await addTransaction(
      transaction, key: nil, limits: limits, authenticatorRequests: authenticatorRequests, audit: audit)
  }

  /// Returns the pending transactions of a user, oldest first.
  ///
  /// - Returns: At most 64 that have not expired at `time`.
  /// - Throws: ``StorageFailure``.
  package func pendingTransactions(user: UserID, at time: Int64) async throws(StorageFailure)
    -> [TransactionRecord]
  {
    let filter = TransactionFilter(user: user, state: .pending)
    return try await transactions(filter, before: nil, at: time, limit: 64).reversed()
  }

  func addOpen(_ id: TransactionID) async throws {
    var transaction = Sample.transaction(id)
    transaction.user = nil
    try await addTransaction(transaction, audit: StorageContract.event("transaction"))
  }

  /// Adds an OpenID Connect client that asks a user.
  func addClient(for user: UserID) async throws {
    try await addClient(
      ClientRecord(
        id: "bank-\(user)", name: "Bank", authentication: .privateKeyJWT, delivery: .poll, created: 5),
      audit: StorageContract.event("client"))
  }

  func askByClient(_ user: UserID) async throws -> AdmissionOutcome {
    let request = BackchannelRecord(
      digest: Array(user.text.utf8), transaction: "t-\(user)", client: "bank-\(user)", delivery: .poll,
      expires: 1_330, interval: 5)
    return try await addBackchannelRequest(
      request, asking: Sample.transaction("t-\(user)", user: user), limits: Sample.limits
    ) { _ in StorageContract.event("asked") }
  }

  func suspend(_ user: UserID) async throws(StorageFailure) -> UserChangeOutcome {
    try await suspendUser(
      user, reason: "why", subject: "~new", at: 1010, audit: StorageContract.event("suspended")
    ) { _ in
      StorageContract.event("ended")
    }
  }

  func delete(_ user: UserID) async throws(StorageFailure) -> UserChangeOutcome {
    try await deleteUser(user, subject: "~new", at: 1010, audit: StorageContract.event("deleted")) { _ in
      StorageContract.event("ended")
    }
  }

  func registerUAF(_ session: ID<UAFOperationRecord>, of user: UserID) async throws -> UAFOutcome {
    let credential = UAFCredentialRecord(
      aaid: "7357#0001", keyID: Array(user.text.utf8), user: user, publicKey: [4] + user.text.utf8,
      algorithm: 1,
      keyFormat: 0x100, signCounter: 0, registrationCounter: 1, authenticatorVersion: 256, created: 1000)
    return try await finishUAFRegistration(
      session, UAFOperationEnd(status: 1200, time: 1050), adding: [credential.new], limit: 4
    ) { _ in StorageContract.event("uaf") }
  }

  func registerApp(_ mechanism: ID<PushAuthMechanismRecord>) async throws -> Bool {
    try await registerPushAuthMechanism(
      mechanism, named: "app of \(mechanism)", sealedDevice: [5], at: 1001,
      audit: StorageContract.event("registered"))
  }
}
