import Foundation
import SignetSQLite
import SignetSystem
import SignetTestKit
import Synchronization
import Testing

private struct Refusal: Error {}

@Suite("Transactions, savepoints and races", .timeLimit(.minutes(10)))
struct SQLiteTransactionTests {
  private let folder: TemporaryFolder
  private let database: Database

  init() throws {
    folder = try TemporaryFolder()
    database = try Database(path: folder.file("db"))
    try database.execute(script: "CREATE TABLE t (n INTEGER) STRICT")
  }

  private func numbers() throws -> [SQLiteValue] {
    try database.query("SELECT n FROM t ORDER BY n").map { $0[0] }
  }

  @Test("a throwing transaction is rolled back, a returning one is committed")
  func transaction() throws {
    #expect(throws: Refusal.self) {
      try database.transaction {
        try database.execute("INSERT INTO t VALUES (1)")
        throw Refusal()
      }
    }
    #expect(!database.isInTransaction)
    #expect(try numbers() == [])
    let result = try database.transaction {
      try database.execute("INSERT INTO t VALUES (2)")
      return database.changes
    }
    #expect(result == 1)
    #expect(try numbers() == [2])
  }

  @Test("a savepoint rolls back its own part only, at any depth")
  func savepoint() throws {
    try database.transaction {
      try database.execute("INSERT INTO t VALUES (1)")
      #expect(throws: Refusal.self) {
        try database.savepoint {
          try database.execute("INSERT INTO t VALUES (2)")
          try database.savepoint { try database.execute("INSERT INTO t VALUES (3)") }
          throw Refusal()
        }
      }
      try database.savepoint { try database.execute("INSERT INTO t VALUES (4)") }
    }
    #expect(try numbers() == [1, 4])
  }

  @Test("a full database changes nothing, even if the body ignores the error")
  func full() throws {
    try database.execute("INSERT INTO t VALUES (1)")
    let pages = try #require(try database.query("PRAGMA page_count").first)[0]
    guard case .integer(let count) = pages else { throw Refusal() }
    _ = try database.query("PRAGMA max_page_count = \(count + 1)")
    let failure = #expect(throws: SQLiteFailure.self) {
      try database.transaction {
        for _ in 0..<10_000 { try database.execute("INSERT INTO t VALUES (2)") }
      }
    }
    #expect(failure == .diskFull(extendedCode: 13))
    #expect(try numbers() == [1])
    // Whether or not SQLite rolled back the transaction, no statement after the swallowed error may commit alone.
    do {
      try database.transaction {
        do { for _ in 0..<10_000 { try database.execute("INSERT INTO t VALUES (3)") } } catch {}
        try database.execute("DELETE FROM t")
        throw Refusal()
      }
    } catch {}
    #expect(try numbers() == [1])
  }

  @Test("a connection that holds the lock makes another wait, then fail as busy")
  func busy() throws {
    let other = try Database(path: folder.file("db"), busyTimeoutMilliseconds: 1)
    try database.transaction {
      try database.execute("INSERT INTO t VALUES (1)")
      #expect(throws: SQLiteFailure.busy(extendedCode: 5)) {
        try other.transaction { try other.execute("INSERT INTO t VALUES (2)") }
      }
      #expect(try other.query("SELECT n FROM t").isEmpty, "readers go on with the state before")
    }
    #expect(try other.query("SELECT n FROM t").count == 1)
  }

  @Test("50 tasks, each with a connection of its own, lose no increment")
  func racingConnections() async throws {
    try database.execute("INSERT INTO t VALUES (0)")
    let path = folder.file("db")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask {
          try await Counter(path: path, label: "task \(number)").increment()
        }
      }
      try await group.waitForAll()
    }
    #expect(try numbers() == [50])
  }

  @Test("two processes open a new file concurrently, create it once and lose no increment")
  func racingProcesses() async throws {
    let path = folder.file("new")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          await #expect(processExitsWith: .success) { [path = path as String] in
            let database = try Database(path: path)
            try database.migrate([
              Migration(version: 1, sql: "CREATE TABLE t (n INTEGER) STRICT; INSERT INTO t VALUES (0)")
            ])
            for _ in 0..<100 {
              try database.transaction {
                let value = try database.query("SELECT n FROM t")[0].integer("n")
                try database.execute("UPDATE t SET n = ?", .integer(value + 1))
              }
            }
          }
        }
      }
    }
    #expect(try Database(path: path).query("SELECT n FROM t").first?[0] == 200)
  }

  @Test("a process that is killed inside a transaction leaves the state before")
  func killed() async throws {
    let path = folder.file("db")
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let database = try Database(path: path)
      try database.execute("INSERT INTO t VALUES (1)")
      try database.transaction {
        try database.execute("INSERT INTO t VALUES (2)")
        kill(getpid(), SIGKILL)
      }
    }
    #expect(try numbers() == [1])
  }
}

private actor Counter {
  private let executor: BlockingExecutor
  private let database: Database
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(path: String, label: String) throws {
    executor = BlockingExecutor(label: label)
    database = try Database(path: path)
  }

  func increment() throws {
    try database.transaction {
      let value = try database.query("SELECT n FROM t")[0].integer("n")
      try database.execute("UPDATE t SET n = ?", .integer(value + 1))
    }
  }
}

@Suite("The executor for blocking calls", .timeLimit(.minutes(10)))
struct BlockingExecutorTests {
  private actor Log {
    private let executor = BlockingExecutor(label: "log")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private(set) var entries: [Int] = []
    func add(_ entry: Int) { entries.append(entry) }
    nonisolated func addAssuming(_ entry: Int) { assumeIsolated { $0.entries.append(entry) } }
    func addWithin(_ entry: Int) { addAssuming(entry) }
  }

  @Test("jobs of one actor never overlap, and isolation is known")
  func serial() async {
    let log = Log()
    await withTaskGroup(of: Void.self) { group in
      for entry in 0..<1000 { group.addTask { await log.add(entry) } }
    }
    await log.addWithin(1000)
    #expect(await log.entries.count == 1001)
  }
}
