/// One row of a result, copied out of SQLite: it stays valid after the statement has advanced.
///
/// Another program may have changed the file, so the typed readers throw if a column does not have the expected storage class.
package struct Row: Sendable {
  let names: [String]
  let values: [SQLiteValue]

  /// The number of columns.
  package var count: Int { values.count }

  /// Returns the value at a column index, from 0.
  ///
  /// - Precondition: `index` is below ``count``.
  package subscript(index: Int) -> SQLiteValue { values[index] }

  /// Returns the value of the first column with this name, or `nil` if the statement has no such column.
  package subscript(name: String) -> SQLiteValue? {
    names.firstIndex(of: name).map { values[$0] }
  }

  /// Returns the integer in a column.
  ///
  /// - Throws: ``SQLiteFailure/unexpectedValue(column:expected:found:)``.
  package func integer(_ name: String) throws(SQLiteFailure) -> Int64 {
    guard case .integer(let value)? = self[name] else { throw mismatch(name, "INTEGER") }
    return value
  }

  /// Returns the integer in a column, or `nil` for `NULL`.
  ///
  /// - Throws: ``SQLiteFailure/unexpectedValue(column:expected:found:)``.
  package func optionalInteger(_ name: String) throws(SQLiteFailure) -> Int64? {
    self[name] == .null ? nil : try integer(name)
  }

  /// Returns the number in a column of class `REAL`.
  ///
  /// - Throws: ``SQLiteFailure/unexpectedValue(column:expected:found:)``.
  package func real(_ name: String) throws(SQLiteFailure) -> Double {
    guard case .real(let value)? = self[name] else { throw mismatch(name, "REAL") }
    return value
  }

  /// Returns the text in a column.
  ///
  /// - Throws: ``SQLiteFailure/unexpectedValue(column:expected:found:)``.
  package func text(_ name: String) throws(SQLiteFailure) -> String {
    guard case .text(let value)? = self[name] else { throw mismatch(name, "TEXT") }
    return value
  }

  /// Returns the text in a column, or `nil` for `NULL`.
  ///
  /// - Throws: ``SQLiteFailure/unexpectedValue(column:expected:found:)``.
  package func optionalText(_ name: String) throws(SQLiteFailure) -> String? {
    self[name] == .null ? nil : try text(name)
  }

  /// Returns the bytes in a column.
  ///
  /// - Throws: ``SQLiteFailure/unexpectedValue(column:expected:found:)``.
  package func blob(_ name: String) throws(SQLiteFailure) -> [UInt8] {
    guard case .blob(let value)? = self[name] else { throw mismatch(name, "BLOB") }
    return value
  }

  /// Returns the bytes in a column, or `nil` for `NULL`.
  ///
  /// - Throws: ``SQLiteFailure/unexpectedValue(column:expected:found:)``.
  package func optionalBlob(_ name: String) throws(SQLiteFailure) -> [UInt8]? {
    self[name] == .null ? nil : try blob(name)
  }

  private func mismatch(_ name: String, _ expected: String) -> SQLiteFailure {
    .unexpectedValue(column: name, expected: expected, found: self[name]?.storageClass ?? "no such column")
  }
}
