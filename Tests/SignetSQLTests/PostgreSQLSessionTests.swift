import SignetConcurrency
import SignetSQL
import SignetTestKit
import Testing

/// The sessions of a database on a PostgreSQL server.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: PrivatePostgreSQL.isPossible, "needs the server programs of PostgreSQL"))
struct PostgreSQLSessionTests {
  /// The processes of the server that serve this database.
  private func serving(_ fixture: SQLFixture) throws -> [String] {
    try PrivatePostgreSQL.shared().run(
      "SELECT pid FROM pg_stat_activity WHERE datname = '\(fixture.name)' AND backend_type = 'client backend'"
    ).split(separator: "\n").map(String.init)
  }

  @Test("the session that brought the schema up to date is kept, and runs the steps")
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

  @Sendable private static func process(_ connection: SQLConnection) throws -> String? {
    try connection.row("SELECT CAST(pg_backend_pid() AS TEXT)") { try $0.text(0) }
  }
}
