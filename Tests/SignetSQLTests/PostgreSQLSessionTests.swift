import SignetSQL
import SignetSystem
import SignetTestKit
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The sessions of a database on a PostgreSQL server.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: PrivatePostgreSQL.isPossible, "needs the server programs of PostgreSQL"))
struct PostgreSQLSessionTests {
  /// The server's processes for this database.
  private func serving(_ fixture: SQLFixture) throws -> [String] {
    try PrivatePostgreSQL.shared().run(
      "SELECT pid FROM pg_stat_activity WHERE datname = '\(fixture.name)' AND backend_type = 'client backend'"
    ).split(separator: "\n").map(String.init)
  }

  @Test("the session that migrated the schema is kept and runs the steps")
  func keepsTheFirst() async throws {
    let fixture = try SQLFixture(.postgreSQL)
    let database = try fixture.open(connections: 1)
    let opened = try serving(fixture)
    #expect(opened.count == 1)
    for _ in 0..<3 {
      for step in [database.write(Self.process), database.read(Self.process)] {
        #expect(try await step.value == opened.first)
      }
    }
    #expect(try serving(fixture) == opened)
    await database.close()
  }

  @Test("a stalled step is rolled back by the server and repeated", arguments: ["INSERT", "COMMIT"])
  func standsStill(_ statement: String) async throws {
    let fixture = try SQLFixture(.postgreSQL)
    let isFirst = Mutex(true)
    let runs = Mutex(0)
    let name = fixture.name
    let observer = SQLObserver { sql in
      guard sql.hasPrefix(statement),
        isFirst.withLock({ isFirst in
          defer { isFirst = false }
          return isFirst
        })
      else { return }
      let idle =
        "SELECT pid FROM pg_stat_activity WHERE datname = '\(name)' AND state LIKE 'idle in transaction%'"
      #expect(try !PrivatePostgreSQL.shared().run(idle).isEmpty)
      while try !PrivatePostgreSQL.shared().run(idle).isEmpty { usleep(100_000) }
    }
    let database = try fixture.open(connections: 1, observer: observer)
    try await database.write { connection in
      runs.withLock { $0 += 1 }
      try connection.add("a", 1)
    }.value
    #expect(runs.withLock { $0 } == 2)
    #expect(try await database.read { try $0.rows("SELECT id FROM items") { try $0.text(0) } }.value == ["a"])
    await database.close()
  }

  @Sendable private static func process(_ connection: SQLConnection) throws -> String? {
    try connection.row("SELECT CAST(pg_backend_pid() AS TEXT)") { try $0.text(0) }
  }
}

/// The private server for tests of databases.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: PrivatePostgreSQL.isPossible, "needs the server programs of PostgreSQL"))
struct PrivatePostgreSQLTests {
  private final class Holder: Sendable {}

  @Test("databases are available even after a test has closed all connections")
  func lendsAgain() throws {
    let server = try PrivatePostgreSQL()
    let template = try server.makeDatabase()
    try server.run("CREATE TABLE schema_version (version INT)", in: template)
    try server.run("CREATE TABLE things (number INT)", in: template)
    func use() throws {
      let holder = Holder()
      let name = try server.borrowDatabase(template: template, for: holder)
      try server.run("INSERT INTO things VALUES (1)", in: name)
      #expect(try server.run("SELECT count(*) FROM things", in: name) == "1")
      withExtendedLifetime(holder) {}
    }
    // The second one reuses a database, which psql empties.
    for _ in 0..<2 { try use() }
    try server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'test%'")
    for _ in 0..<2 { try use() }
  }
}
