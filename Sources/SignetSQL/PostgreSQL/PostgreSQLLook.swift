/// Looks at a PostgreSQL database past the connections that serve: whether its tables are those of the start, and can be read.
package struct PostgreSQLLook: Sendable {
  /// How long a look waits for the server, and for who holds a table, in seconds.
  private static let patience = 5

  private let address: String
  private let tables: [String]
  /// How the server numbered its tables at the start: another one of the same name has another number.
  private let numbers: [String: Int64]

  /// Those tables that are there now are the ones that are looked for; it blocks.
  ///
  /// - Throws: ``SQLFailure``.
  package init(_ address: String, at tables: [String]) throws {
    (self.address, self.tables) = (address, tables)
    numbers = try Self.numbers(Self.connection(address))
  }

  /// Reads a row of each table by a new connection; it blocks.
  ///
  /// - Parameter body: What is done with that connection after it, each statement for itself; not called where a table is gone.
  /// - Returns: The table that is missing, or has another one in its place; `nil` for none.
  /// - Throws: ``SQLFailure``, and what `body` throws.
  package func look(then body: (SQLConnection) throws -> Void) throws -> String? {
    let connection = try Self.connection(address)
    let present = try Self.numbers(connection)
    let gone = tables.first { present[$0] == nil || present[$0] != numbers[$0] }
    if let gone { return gone }
    // Outside of transactions: a serializable one that reads all tables would be in the way of all that write.
    for table in tables { _ = try connection.rows("SELECT 1 FROM \(table) LIMIT 1") { _ in } }
    try body(connection)
    return nil
  }

  private static func connection(_ address: String) throws -> SQLConnection {
    let connection = SQLConnection(
      try PostgreSQLSession(address, patience * 1_000, connectTimeoutSeconds: patience), nil)
    try connection.define("SET statement_timeout = \(patience * 1_000)")
    return connection
  }

  private static func numbers(_ connection: SQLConnection) throws -> [String: Int64] {
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
