/// The SQL dialect of a connection.
///
/// Statements are the same in both; ``SQLTable`` creates the tables.
public enum SQLDialect: Sendable, Hashable {
  /// SQLite 3.38 or newer.
  case sqlite
  /// PostgreSQL.
  case postgreSQL

  /// The end of a `SELECT` that locks its rows until the step has ended; empty for SQLite, which has one writer.
  var lockingClause: String { self == .postgreSQL ? " FOR UPDATE" : "" }
}
