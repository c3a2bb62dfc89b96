import SignetCrypto
package import SignetStorage
import SignetSystem

/// The checks that every ``SignetStorage/Storage`` must pass.
///
/// Each check needs its own empty storage and throws a ``Failure`` that names the expectation:
///
/// ```swift
/// @Test(arguments: StorageContract.checks) func keepsTheContract(_ check: StorageContract.Check) async throws {
///   try await check.run(makeEmptyStorage())
/// }
/// ```
///
/// A check of a race runs 50 tasks of which one may win. No test framework is needed.
package enum StorageContract {
  /// A violation of the contract.
  package struct Failure: Error, CustomStringConvertible {
    /// The expectation, and the observed result.
    package let description: String
  }

  /// One check.
  package struct Check: Sendable, CustomStringConvertible {
    /// The name of the check.
    package let name: String
    private let body: @Sendable (Storage) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (Storage) async throws -> Void) {
      (self.name, self.body) = (name, body)
    }

    /// Runs the check on an empty storage.
    ///
    /// - Throws: ``Failure``, or the storage's error.
    package func run(_ storage: Storage) async throws { try await body(storage) }

    /// The name.
    package var description: String { name }
  }

  /// All checks.
  package static let checks: [Check] = [
    users, userGate, userLife, deviceLocks, containerLocks, deviceLosses, devices, apiKeys, activations,
    containers, lifetime,
    codes, attempts, tokens, transactions, transactionEnds, requestBudget, asking, unanswerable, push,
    pushAuth, clients, backchannel, outbox, uaf, authenticatorKeys, accounts, audit, auditDevices, repeatable,
    lifecycle,
  ].flatMap(\.self)
}

/// The number of competing tasks in a check.
let contestants = 50

extension StorageContract {
  static func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) throws {
    guard condition else { throw Failure(description: sentence()) }
  }

  static func expect<Value: Equatable>(_ actual: Value, is expected: Value, _ subject: String) throws {
    try expect(actual == expected, "\(subject): expected \(expected), found \(actual)")
  }

  static func expect<Value>(
    _ failure: StorageFailure, _ subject: String, _ body: () async throws -> Value
  ) async throws {
    do { _ = try await body() } catch let actual as StorageFailure {
      return try expect(actual, is: failure, subject)
    }
    throw Failure(description: "\(subject): expected \(failure), and it succeeded")
  }

  /// Runs 50 calls concurrently.
  static func race<Value: Sendable>(
    _ body: @escaping @Sendable (Int) async throws -> Value
  ) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
      for number in 0..<contestants { group.addTask { try await body(number) } }
      var results: [Value] = []
      for try await result in group { results.append(result) }
      return results
    }
  }

  static func event(_ name: String) -> AuditRecord { .sample(name) }

  /// Verifies the chains of the audit log and returns its texts, one chain after the other.
  static func log(of storage: Storage) async throws -> [String] {
    let entries = try await storage.auditEntries(after: 0, limit: 10_000)
    var verification = AuditVerification()
    for entry in entries { verification.verify(entry) }
    if let position = verification.report.firstBreak {
      throw Failure(description: "the audit chain \(position.chain) breaks at entry \(position.number)")
    }
    return entries.map(\.text)
  }

  /// Compares the audit log; in any order if several connections have written it.
  static func expectLog(_ storage: Storage, has expected: [String]) async throws {
    let names = expected.map { event($0).text }
    let texts = try await log(of: storage)
    let chains = try await storage.auditEntries(after: 0, limit: 10_000).map(\.chain)
    if Set(chains).count > 1 {
      try expect(texts.sorted(), is: names.sorted(), "the audit log")
    } else {
      try expect(texts, is: names, "the audit log")
    }
  }
}

extension StorageContract {
  /// Returns the event of a transaction that was found to have expired.
  static func expiry(of transaction: TransactionID, at time: Int64) -> String {
    AuditRecord(.transactionExpired(transaction: transaction), by: .server, at: time).text
  }
}

package enum Sample {
  /// The event of an object that is lost with a container or a device.
  static let lost: @Sendable (DeviceLoss) -> AuditRecord = { StorageContract.event("lost \($0)") }

  static let alice = UserRecord(id: "alice", created: 100)
  static let bob = UserRecord(id: "bob", created: 200)

  static func activation(
    _ id: ID<ActivationRecord>, user: UserID = "alice", expires: Int64 = 2000
  ) -> ActivationRecord {
    ActivationRecord(
      id: id, user: user, sealedInviteKey: [1, 2, 3], salt: [UInt8](repeating: 4, count: 16),
      memoryKiB: 19_456,
      passes: 2, lanes: 1, profile: Array("{}".utf8), created: 1000, expires: expires)
  }

  static func container(
    _ id: ContainerID, activation: ID<ActivationRecord>, user: UserID = "alice", device: UInt8 = 7
  ) -> ContainerRecord {
    var container = ContainerRecord(
      id: id, user: user, activation: activation, device: [UInt8](repeating: device, count: 16),
      name: "Läptop",
      platform: "linux", keystore: "tpm2", sessionKey: [4, 1] + id.text.utf8,
      encryptionKey: [4, 2] + id.text.utf8,
      signingKey: [4, 3] + id.text.utf8,
      profile: Array("{}".utf8), created: 1500)
    (container.isSimulated, container.keyOrigin) = (true, "software")
    return container
  }

  static func credential(
    _ id: ID<CredentialRecord>, user: UserID? = "alice", serial: String? = nil,
    kind: CredentialRecord.Kind = .totp, state: CredentialRecord.State = .pending
  ) -> CredentialRecord {
    CredentialRecord(
      id: id, user: user, serial: serial, kind: kind, algorithm: "SHA256", digits: 6,
      period: kind == .totp ? 30 : 0, sealedSecret: [9, 9, 9], created: 1500, state: state)
  }

  /// A verifier of codes that are represented by their counters.
  static func verify(
    _ snapshot: OTPSnapshot, _ counter: Int64?, of id: ID<CredentialRecord>, limit: Int
  ) -> OTPResult {
    func result(_ outcome: CodeOutcome) -> OTPResult {
      OTPResult(outcome, wait: snapshot.wait, audit: StorageContract.event("code \(outcome)"))
    }
    guard var credential = snapshot.credentials.first(where: { $0.id == id }) else {
      return result(.refused)
    }
    guard credential.failures < limit else { return result(.locked) }
    var made: OTPResult
    if let counter, counter > credential.lastCounter {
      (credential.lastCounter, credential.failures) = (counter, 0)
      made = result(.accepted)
    } else {
      credential.failures += 1
      made = result(.refused)
    }
    made.changed = [credential]
    return made
  }

  static func transaction(_ id: TransactionID, user: UserID = "alice", created: Int64 = 1000)
    -> TransactionRecord
  {
    TransactionRecord(
      id: id, user: user, content: #"{"from":"Example Bank","text":"Pay 1 €\nto Jane"}"#, created: created,
      expires: created + 300)
  }

  /// Limits that never refuse a request; other checks cover the limits.
  static let limits = TransactionLimits(pending: 1000, challenges: 1000, wrongSignatures: 3)

  static func decision(
    _ state: TransactionRecord.State = .accepted, by container: ContainerID = "c1", at time: Int64 = 1100
  ) -> DecisionRecord {
    DecisionRecord(state: state, jws: "jws of \(container) \(state)", container: container, time: time)
  }
}

extension Storage {
  /// Adds alice or bob.
  func add(_ user: UserRecord) async throws { try await addUser(user, audit: StorageContract.event("user")) }

  func add(_ activation: ActivationRecord) async throws {
    try await addActivation(activation, audit: StorageContract.event("invite"))
  }

  /// Sends one *finish*.
  func finish(
    _ activation: ID<ActivationRecord>, _ container: ContainerRecord?, at time: Int64 = 1600, limit: Int = 5
  ) async throws -> ActivationOutcome {
    let new = container.map { NewContainer($0, Sample.credential(ID(of: $0.id), user: $0.user)) }
    return try await finishActivation(activation, container: new, limit: limit, at: time) { outcome in
      outcome == .closed ? nil : StorageContract.event("finish")
    }
  }

  func confirm(_ id: ContainerID) async throws -> ConfirmationOutcome {
    try await confirmContainer(id, at: 1700) { _ in
      StorageContract.event("confirm")
    } lost: {
      StorageContract.event("lost \($0)")
    }
  }

  /// Creates and activates a container, with its activation.
  func activate(
    _ id: ContainerID, user: UserID = "alice", device: UInt8 = 7
  ) async throws {
    try await add(Sample.activation("a-\(id)", user: user))
    let record = Sample.container(id, activation: "a-\(id)", user: user, device: device)
    try await StorageContract.expect(finish("a-\(id)", record), is: .staged, "finish")
    try await StorageContract.expect(confirm(id), is: .activated, "confirm")
  }

  /// Returns alice's container `c1`, after adding these transactions.
  func asked(_ transactions: [String]) async throws -> ContainerRecord {
    try await add(Sample.alice)
    try await activate("c1")
    for id in transactions {
      try await addTransaction(Sample.transaction("\(id)"), audit: StorageContract.event("transaction"))
    }
    guard let container = try await container("c1") else {
      throw StorageContract.Failure(description: "the container is there")
    }
    return container
  }

  func revokeContainer(_ id: ContainerID) async throws(StorageFailure) -> Bool {
    try await revokeContainer(id, audit: StorageContract.event("revoked"), lost: Sample.lost)
  }

  /// Submits the code of a counter, or a wrong one, for one credential of a user.
  func submit(
    _ counter: Int64?, container: ContainerID = "c1", user: UserID = "alice", limit: Int = 3,
    key: ID<APIKeyRecord>? = nil
  ) async throws -> CodeOutcome {
    try await attempt(OTPSubject(user: user, client: [1], key: key)) {
      Sample.verify($0, counter, of: ID(of: container), limit: limit)
    }
  }

  /// Makes one attempt with codes, and waits for its result.
  func attempt(
    _ attempt: OTPSubject, verify: @escaping @Sendable (OTPSnapshot) -> OTPResult
  ) async throws -> CodeOutcome {
    try await attemptCode(attempt, verify: verify).value
  }

  func decide(
    _ id: TransactionID, _ decision: DecisionRecord, _ limits: TransactionLimits = Sample.limits,
    isSigned: Bool = true, hasRightNumber: Bool = true
  ) async throws -> DecisionOutcome {
    let stored = try await container(decision.container)
    let signer = SignerRecord(stored ?? Sample.container(decision.container, activation: "nothing"))
    let attempt = DecisionAttempt(
      transaction: id, by: signer, request: SystemRandomSource().bytes(16), expires: 5000)
    return try await decide(
      attempt, .accept(decision, isSigned: isSigned, hasRightNumber: hasRightNumber), limits)
  }

  /// Decides a transaction with a request, and waits for the result.
  func decide(
    _ attempt: DecisionAttempt, _ verdict: DecisionVerdict, _ limits: TransactionLimits = Sample.limits
  ) async throws -> DecisionOutcome {
    try await decideTransaction(attempt, limits: limits) { _, _ in
      verdict
    } audit: {
      StorageContract.event("decision \($0)")
    }.value
  }

  func end(
    _ id: TransactionID, _ end: EndRecord, isSuspicious: Bool = false, key: ID<APIKeyRecord>? = nil,
    limits: TransactionLimits = Sample.limits
  ) async throws -> DecisionOutcome {
    try await endTransaction(id, end, isSuspicious: isSuspicious, key: key, limits: limits) {
      StorageContract.event("end \($0)")
    }
  }

  /// Adds a transaction without limits.
  func addTransaction(_ transaction: TransactionRecord, audit: AuditRecord) async throws {
    let outcome = try await addTransaction(transaction, key: nil, limits: Sample.limits) { _ in audit }
    try StorageContract.expect(outcome, is: .added, "an addition")
  }

  /// Adds a UAF operation without limits.
  package func addUAFOperation(
    _ session: UAFOperationRecord, by basis: UAFBasis? = nil, audit: AuditRecord?
  ) async throws {
    let outcome = try await addUAFOperation(session, by: basis, limits: Sample.limits) { _ in audit }
    try StorageContract.expect(outcome, is: .added, "an addition")
  }
}
