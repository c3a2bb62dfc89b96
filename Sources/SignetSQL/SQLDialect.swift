/// The database language that a connection speaks.
///
/// Statements are the same in both; tables are made by ``SQLTable``.
public enum SQLDialect: Sendable, Hashable {
  /// SQLite 3.38 or newer.
  case sqlite
  /// PostgreSQL.
  case postgreSQL

  /// Ends a `SELECT` so that the rows stay as they are until the step has ended; SQLite has one writer and needs nothing.
  var lockingClause: String { self == .postgreSQL ? " FOR UPDATE" : "" }
}
