import SignetTestKit
import Testing

/// The private server for tests of databases.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: PrivatePostgreSQL.isPossible, "needs the server programs of PostgreSQL"))
struct PrivatePostgreSQLTests {
  private final class Holder: Sendable {}

  @Test("databases are lent also after a test has ended all connections")
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
