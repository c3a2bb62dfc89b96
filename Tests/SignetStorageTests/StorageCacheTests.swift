import PostgreSQLFixture
import SignetCrypto
import SignetServerTesting
import SignetSQL
import SignetStorage
import SignetSystem
import SignetTestKit
import Testing

/// A process may cache parts of the database only as long as no other process writes there.
@Suite(.timeLimit(.minutes(10))) struct StorageCacheTests {
  private static let event = AuditRecord.sample()
  private static let otherKey = HMACKey(SecretBytes(copying: [UInt8](repeating: 8, count: 32)), .sha256)

  /// Runs `body` with two processes on one database, and an attacker who writes to it without the master key.
  private static func run(
    on backend: StorageBackend,
    _ body: (_ first: Storage, _ second: Storage, _ other: SQLDatabase) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let location = try backend.location(in: folder)
    let first = try Storage.open(location).authenticatingRows(with: .forTests)
    let second = try Storage.open(location).authenticatingRows(with: .forTests)
    let other = try SQLDatabase.beside(location)
    try await first.addUser(UserRecord(id: "alice", created: 1), audit: event)
    for id: ID<APIKeyRecord> in ["k1", "k2"] {
      let key = APIKeyRecord(
        id: id, name: id.text, scopes: ["relying-party"], secretDigest: [1], created: 1)
      try await first.addAPIKey(key, audit: event)
    }
    try await body(first, second, other)
    for storage in [first, second] { await storage.close() }
    await other.close()
  }

  private static func attempt(_ storage: Storage, key: ID<APIKeyRecord>) async throws -> CodeOutcome {
    try await storage.attemptCode(OTPSubject(user: "alice", key: key)) { snapshot in
      OTPResult(.refused, wait: snapshot.wait, audit: event)
    }.value
  }

  private static func ask(_ id: TransactionID, _ storage: Storage, key: ID<APIKeyRecord>) async throws
    -> AdmissionOutcome
  {
    let transaction = TransactionRecord(id: id, user: "alice", content: "{}", created: 1, expires: 100)
    let limits = TransactionLimits(pending: 1000, challenges: 1000)
    return try await storage.addTransaction(transaction, key: key, limits: limits) { _ in event }
  }

  private static func revoke(_ key: ID<APIKeyRecord>, on storage: Storage) async throws {
    let outcome = try await storage.revokeAPIKey(key, keepingOneOf: "admin", at: 2, audit: event)
    #expect(outcome == .revoked)
  }

  @Test(
    "a key revoked by another process is refused by the next code and the next request",
    arguments: StorageBackend.here)
  func revoked(_ backend: StorageBackend) async throws {
    try await Self.run(on: backend) { first, second, _ in
      for key: ID<APIKeyRecord> in ["k1", "k2", "k1", "k2"] {
        #expect(try await Self.attempt(first, key: key) == .refused)
      }
      try await Self.revoke("k1", on: second)
      #expect(try await Self.attempt(first, key: "k1") == .keyRevoked)
      #expect(try await Self.attempt(first, key: "k2") == .refused)
      #expect(try await Self.ask("t1", first, key: "k2") == .added)
      try await Self.revoke("k2", on: second)
      #expect(try await Self.ask("t2", first, key: "k2") == .keyRevoked)
      #expect(try await first.transaction("t2") == nil)
    }
  }

  @Test(
    "a key revoked by the same process is refused by the next code",
    arguments: StorageBackend.here)
  func revokedHere(_ backend: StorageBackend) async throws {
    try await Self.run(on: backend) { first, _, _ in
      #expect(try await Self.attempt(first, key: "k1") == .refused)
      try await Self.revoke("k1", on: first)
      #expect(try await Self.attempt(first, key: "k1") == .keyRevoked)
    }
  }

  @Test(
    "a storage's cached keys are not used by one with another row key on the same connections",
    arguments: StorageBackend.here)
  func otherRowKey(_ backend: StorageBackend) async throws {
    try await Self.run(on: backend) { first, _, _ in
      let stranger = first.authenticatingRows(with: Self.otherKey)
      for _ in 0..<2 {
        let own = try await Self.attempt(first, key: "k1")
        let others = try await Self.attempt(stranger, key: "k1")
        #expect(own == .refused && others == .keyRevoked)
      }
    }
  }

  @Test(
    "the next step detects a key row altered outside the server",
    arguments: StorageBackend.here,
    ["scopes = 'admin'", "created = 9", "code = NULL"])
  func altered(_ backend: StorageBackend, _ change: String) async throws {
    try await Self.run(on: backend) { first, _, other in
      for _ in 0..<2 { #expect(try await Self.attempt(first, key: "k1") == .refused) }
      _ = try await other.write { try $0.execute("UPDATE api_keys SET \(change) WHERE id = 'k1'") }.value
      #expect(try await Self.attempt(first, key: "k1") == .keyRevoked)
      #expect(try await Self.attempt(first, key: "k2") == .refused)
    }
  }

  @Test(
    "a receiver added or removed by another process takes effect with the next event",
    arguments: StorageBackend.here)
  func receivers(_ backend: StorageBackend) async throws {
    let receiver = OutboxReceiver(.securityEvents, "r")
    try await Self.run(on: backend) { first, second, _ in
      @Sendable func suspendAndResume(at time: Int64) async throws -> [OutboxRecord] {
        func record(_ event: AuditEvent) -> AuditRecord { AuditRecord(event, by: .local, at: time) }
        let suspended = try await first.suspendUser(
          "alice", reason: "", subject: "~alice\(time)", at: time,
          audit: record(.userSuspended(user: "alice", reason: ""))
        ) { _ in Self.event }
        #expect(suspended == .changed)
        let resumed = try await first.resumeUser(
          "alice", at: time + 1, audit: record(.userResumed(user: "alice")))
        #expect(resumed == .changed)
        // The oldest event of each receiver.
        return try await first.dueDeliveries(on: .securityEvents, at: .max, limitPerReceiver: 10)
      }
      #expect(try await suspendAndResume(at: 10).isEmpty)
      try await second.addOutboxReceiver(receiver, lifetime: 100)
      #expect(try await suspendAndResume(at: 20).map(\.created) == [20])
      #expect(try await second.removeOutboxReceiver(receiver))
      #expect(try await suspendAndResume(at: 30).isEmpty)
    }
  }
}
