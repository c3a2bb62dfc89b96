/// The tables of a program, as the list of migrations that lead to them.
///
/// Migrations are data. A published migration is never edited; the next is added.
public struct SQLSchema: Sendable {
  /// The statements of one step of the schema.
  public typealias Migration = @Sendable (SQLDialect) -> [String]

  private let migrations: [Migration]

  /// Makes a schema of migrations; the first takes an empty database to version 1.
  public init(_ migrations: [Migration]) { self.migrations = migrations }

  /// Makes a schema whose first version is these tables.
  public init(baseline: [SQLTable]) {
    self.init([{ dialect in baseline.flatMap { $0.statements(dialect) } }])
  }

  static let versions = SQLTable(
    "schema_version", [.integer("one").primaryKey, .integer("version")], constraints: ["CHECK (one = 1)"])

  /// Checks that the database has this schema; an older or empty database is migrated to the current version in one step.
  ///
  /// Any number of processes may call this at the same time; one does the work.
  ///
  /// - Throws: ``SQLFailure/otherSchema(found:supported:)``, ``SQLFailure/unexpectedContent(isEmpty:)``, and the failures of
  ///   the statements.
  func migrate(_ connection: SQLConnection, expecting expectation: SQLExpectation) throws {
    let supported = migrations.count
    let hasSchema = try connection.hasTable(named: Self.versions.name)
    guard expectation != (hasSchema ? .nothing : .tables) else {
      throw SQLFailure.unexpectedContent(isEmpty: !hasSchema)
    }
    if !hasSchema {
      guard try !connection.hasTable(named: nil) else {
        throw SQLFailure.otherSchema(found: nil, supported: supported)
      }
      for statement in Self.versions.statements(connection.dialect) { try connection.define(statement) }
    }
    let found = try connection.row("SELECT version FROM schema_version WHERE one = 1") { try $0.int(0) } ?? 0
    guard (0...supported).contains(found) else {
      throw SQLFailure.otherSchema(found: found, supported: supported)
    }
    if found == supported { return }
    for migration in migrations[found...] {
      for statement in migration(connection.dialect) { try connection.define(statement) }
    }
    try connection.execute(
      """
      INSERT INTO schema_version (one, version) VALUES (1, $1)
        ON CONFLICT (one) DO UPDATE SET version = excluded.version
      """, [.int(supported)], changing: 1)
  }
}

extension SQLConnection {
  /// Returns `true` if there is a table with this name, or any table for `nil`.
  fileprivate func hasTable(named name: String?) throws -> Bool {
    let tables =
      switch dialect {
      case .sqlite: "SELECT name FROM sqlite_schema"
      case .postgreSQL:
        "SELECT CAST(tablename AS TEXT) AS name FROM pg_tables WHERE schemaname = current_schema()"
      }
    let names = try rows(tables) { try $0.text(0) }
    return name.map(names.contains) ?? !names.isEmpty
  }
}
