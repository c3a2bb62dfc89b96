/// A check of a PostgreSQL database with a separate connection: its tables must be those of the start, and readable.
package struct PostgreSQLProbe: Sendable {
  /// The time that a check waits for the server, and for table locks, in seconds.
  private static let timeoutSeconds = 5

  private let address: String
  private let tables: [String]
  /// The object ids of the tables at the start: a new table with the same name has another id.
  private let objectIDs: [String: Int64]

  /// Records the tables that exist now as the expected ones; it blocks.
  ///
  /// - Throws: ``SQLFailure``.
  package init(_ address: String, at tables: [String]) throws {
    (self.address, self.tables) = (address, tables)
    objectIDs = try Self.objectIDs(Self.connection(address))
  }

  /// Reads a row of each table with a new connection; it blocks.
  ///
  /// - Parameter body: Uses that connection afterwards, each statement in its own transaction; not called if a table is missing.
  /// - Returns: The table that is missing or was replaced; `nil` for none.
  /// - Throws: ``SQLFailure``, and the errors of `body`.
  package func check(then body: (SQLConnection) throws -> Void) throws -> String? {
    let connection = try Self.connection(address)
    let present = try Self.objectIDs(connection)
    let missing = tables.first { present[$0] == nil || present[$0] != objectIDs[$0] }
    if let missing { return missing }
    // Outside of transactions: a serializable transaction that reads all tables would conflict with every writing one.
    for table in tables { _ = try connection.rows("SELECT 1 FROM \(table) LIMIT 1") { _ in } }
    try body(connection)
    return nil
  }

  private static func connection(_ address: String) throws -> SQLConnection {
    let connection = SQLConnection(
      try PostgreSQLSession(address, timeoutSeconds * 1_000, connectTimeoutSeconds: timeoutSeconds), nil)
    try connection.define("SET statement_timeout = \(timeoutSeconds * 1_000)")
    return connection
  }

  private static func objectIDs(_ connection: SQLConnection) throws -> [String: Int64] {
    let found = try connection.rows(
      """
      SELECT CAST(pg_class.relname AS TEXT), CAST(pg_class.oid AS BIGINT)
        FROM pg_class JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace
        WHERE pg_class.relkind = 'r' AND pg_namespace.nspname = current_schema()
      """
    ) { (try $0.text(0), try $0.integer(1)) }
    return Dictionary(uniqueKeysWithValues: found)
  }
}
