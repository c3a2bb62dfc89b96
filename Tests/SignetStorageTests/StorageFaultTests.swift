import Foundation
import SignetSQL
import SignetServerTesting
import SignetStorage
import PostgreSQLFixture
import SignetTestKit
import Synchronization
import Testing

/// A disk that is full, or fails, between any two statements: the caller gets the error, and no change is partial.
@Suite(.timeLimit(.minutes(10))) struct StorageFaultTests {
  /// Lets a number of statements pass, then fails one.
  private final class Fault: Sendable {
    private let state = Mutex<(remaining: Int, failure: SQLFailure?)>((0, nil))

    func arm(after count: Int, _ failure: SQLFailure) { state.withLock { $0 = (count, failure) } }
    func disarm() { state.withLock { $0 = (0, nil) } }

    func step() throws(SQLFailure) {
      let failure = state.withLock { state -> SQLFailure? in
        guard let failure = state.failure else { return nil }
        state.remaining -= 1
        guard state.remaining < 0 else { return nil }
        state.failure = nil
        return failure
      }
      if let failure { throw failure }
    }
  }

  private static func event(_ name: String) -> AuditRecord { .sample(name) }

  private static func activation(_ id: ID<ActivationRecord>) -> ActivationRecord {
    ActivationRecord(
      id: id, user: "alice", sealedInviteKey: [1], salt: [2], memoryKiB: 1, passes: 1, lanes: 1, profile: [3],
      created: 1, expires: 1000)
  }

  /// All visible contents of the storage.
  private static func snapshot(_ storage: Storage) async throws -> [String] {
    [
      "\(try await storage.users())",
      "\(String(describing: try await storage.openActivation(user: "alice")))",
      "\(try await storage.containers(user: "alice"))",
      "\(try await storage.auditEntries(after: 0, limit: 100))",
    ]
  }

  @Test(
    "every statement of a change fails once",
    arguments: [
      (SQLFailure.full, StorageFailure.full),
      (.readOnly, .readOnly), (.busy, .busy),
    ])
  func writesAllOrNothing(_ sqlite: SQLFailure, _ expected: StorageFailure) async throws {
    let fault = Fault()
    let folder = try TemporaryFolder()
    let storage = try Storage.open(.file(folder.path + "/signet.sqlite")) { _ in try fault.step() }
    try await storage.addUser(UserRecord(id: "alice", created: 1), audit: Self.event("user"))
    try await storage.addActivation(Self.activation("a1"), audit: Self.event("invite"))
    let before = try await Self.snapshot(storage)
    var failures = 0
    while true {
      fault.arm(after: failures, sqlite)
      do throws(StorageFailure) {
        try await storage.addActivation(Self.activation("a2"), audit: Self.event("invite"))
      } catch {
        #expect(error == expected)
        #expect(try await Self.snapshot(storage) == before, "statement \(failures)")
        failures += 1
        continue
      }
      fault.disarm()
      break
    }
    // At least BEGIN, two changes, the end of the log, its new entry, and COMMIT.
    #expect(failures >= 6)
    #expect(try await storage.openActivation(user: "alice")?.id == "a2")
  }

  @Test("a database that cannot grow")
  func saysThatItIsFull() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let isFull = Mutex(false)
    let storage = try Storage.open(.file(path)) { sql in
      if sql.hasPrefix("INSERT INTO audit"), isFull.withLock({ $0 }) { throw SQLFailure.full }
    }
    try await storage.addUser(UserRecord(id: "alice", created: 1), audit: Self.event("user"))
    isFull.withLock { $0 = true }
    let outcomes = await withTaskGroup(of: StorageFailure?.self) { group in
      for number in 0..<50 {
        group.addTask {
          do throws(StorageFailure) {
            try await storage.addUser(UserRecord(id: "u\(number)", created: 1), audit: Self.event("user"))
            return nil
          } catch { return error }
        }
      }
      return await group.reduce(into: Set<StorageFailure?>()) { $0.insert($1) }
    }
    #expect(outcomes == [.full])
    #expect(try await storage.users().map(\.id) == ["alice"])
    isFull.withLock { $0 = false }
    try await storage.addUser(UserRecord(id: "bob", created: 1), audit: Self.event("user"))
    #expect(try await storage.auditEntries(after: 0, limit: 10).map(\.number) == [1, 2])
  }

  @Test("if SQLite rolls back, every caller in the commit gets the disk-full error")
  func tellsTheCauseOfARollback() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let first = try Storage(.file(path))
    try await first.append(Self.event("first"))
    await first.close()
    // SQLite raises a limit below the file's size to that size.
    let storage = try Storage.open(.file(path), preparation: ["PRAGMA max_page_count = 1"])
    let large = AuditRecord.sample(String(repeating: "x", count: 20_000))
    let outcomes = await withTaskGroup(of: StorageFailure?.self) { group in
      for _ in 0..<50 {
        group.addTask {
          do throws(StorageFailure) {
            try await storage.append(large)
            return nil
          } catch { return error }
        }
      }
      return await group.reduce(into: Set<StorageFailure?>()) { $0.insert($1) }
    }
    #expect(outcomes == [.full])
    await storage.close()
    let roomy = try Storage(.file(path))
    try await roomy.append(Self.event("third"))
    let texts = try await roomy.auditEntries(after: 0, limit: 10).map(\.text)
    #expect(texts == [Self.event("first").text, Self.event("third").text])
  }
}
