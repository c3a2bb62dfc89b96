import SignetSQL

/// A record of a row with a MAC.
protocol StoredRecord {
  /// The name of the table, as in ``StorageFailure/altered(row:of:)``.
  static var table: String { get }
  /// The columns that ``init(_:_:)`` reads, in order.
  static var columns: String { get }

  /// Reads a row and verifies its MAC.
  init(_ row: SQLRow, _ mac: RowMAC) throws
}

/// A record that is also read from a row that was altered, so that it can be listed and revoked.
package protocol AlterableRecord {
  /// The type of its id.
  associatedtype Name: CustomStringConvertible

  /// The name of the table.
  static var table: String { get }
  /// The id.
  var id: Name { get }
  /// Indicates whether its row's MAC does not verify.
  var isAltered: Bool { get }
}

extension AlterableRecord {
  /// Returns the record, if its row's MAC verifies.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  package func checked() throws(StorageFailure) -> Self {
    guard !isAltered else { throw .altered(row: id.description, of: Self.table) }
    return self
  }
}

extension SQLConnection {
  /// Returns the records of the rows that a clause selects, such as `WHERE user_id = $1 ORDER BY created`.
  ///
  /// - Throws: The errors of ``StoredRecord/init(_:_:)``; ``SQLFailure``.
  func records<Record: StoredRecord>(_ clause: String, _ values: [SQLValue] = []) throws -> [Record] {
    let mac = try rowMAC
    return try rows("SELECT \(Record.columns) FROM \(Record.table) \(clause)", values) {
      try Record($0, mac)
    }
  }

  /// Returns the record of the only row that a clause selects; `nil` for none.
  ///
  /// - Throws: The errors of ``StoredRecord/init(_:_:)``; ``SQLFailure``.
  func record<Record: StoredRecord>(_ clause: String, _ values: [SQLValue] = []) throws -> Record? {
    let mac = try rowMAC
    return try row("SELECT \(Record.columns) FROM \(Record.table) \(clause)", values) {
      try Record($0, mac)
    }
  }

  /// Returns records as ``records(_:_:)`` does, without those whose initializer finds the row altered.
  ///
  /// - Throws: ``SQLFailure``.
  func intactRecords<Record: StoredRecord>(_ clause: String, _ values: [SQLValue] = []) throws -> [Record] {
    let mac = try rowMAC
    return try rows("SELECT \(Record.columns) FROM \(Record.table) \(clause)", values) { row -> Record? in
      do { return try Record(row, mac) } catch StorageFailure.altered { return nil }
    }.compactMap(\.self)
  }

  // Built once: `$1, $2` and so on for each number of values.
  private static let placeholders: [String] = (0...32).map { count in
    (0..<count).map { "$\($0 + 1)" }.joined(separator: ", ")
  }

  /// Adds a row with at most 32 values, in the order of the columns.
  ///
  /// - Throws: ``SQLFailure``.
  func insert(into table: String, _ columns: String, _ values: [SQLValue]) throws {
    let placeholders = Self.placeholders[values.count]
    try execute("INSERT INTO \(table) (\(columns)) VALUES (\(placeholders))", values, changing: 1)
  }
}
