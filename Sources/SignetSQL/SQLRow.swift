/// One row of a result, copied out of the database, so that it stays valid after the step.
///
/// Columns are addressed by index, from 0.
///
/// Another program may have changed the database, so the readers throw if a column does not have the expected type.
public struct SQLRow: Sendable {
  @usableFromInline let values: [SQLValue]
  /// The index in `values` of column 0.
  @usableFromInline let start: Int

  init(values: [SQLValue]) { (self.values, start) = (values, 0) }

  private init(values: [SQLValue], start: Int) { (self.values, self.start) = (values, start) }

  /// The number of columns.
  public var count: Int { values.count - start }

  /// The value of a column.
  @inlinable public subscript(index: Int) -> SQLValue { values[start + index] }

  /// Returns the columns from an index on as a row: those of the second table, if a query joins two.
  public func columns(from index: Int) -> SQLRow { SQLRow(values: values, start: start + index) }

  /// Returns the integer in a column.
  ///
  /// - Throws: ``SQLFailure/unexpectedValue(column:expected:found:)``.
  public func integer(_ index: Int) throws(SQLFailure) -> Int64 {
    guard case .integer(let value) = self[index] else { throw mismatch(index, "an integer") }
    return value
  }

  /// Returns the integer in a column as an `Int`, clamped to its range.
  ///
  /// - Throws: ``SQLFailure/unexpectedValue(column:expected:found:)``.
  public func int(_ index: Int) throws(SQLFailure) -> Int { Int(clamping: try integer(index)) }

  /// Returns the Boolean in a column with 1 or 0.
  ///
  /// - Throws: ``SQLFailure/unexpectedValue(column:expected:found:)``.
  public func bool(_ index: Int) throws(SQLFailure) -> Bool {
    switch self[index] {
    case .integer(0): false
    case .integer(1): true
    default: throw mismatch(index, "0 or 1")
    }
  }

  /// Returns the floating-point number in a column.
  ///
  /// - Throws: ``SQLFailure/unexpectedValue(column:expected:found:)``.
  public func real(_ index: Int) throws(SQLFailure) -> Double {
    guard case .real(let value) = self[index] else { throw mismatch(index, "a real number") }
    return value
  }

  /// Returns the text in a column.
  ///
  /// - Throws: ``SQLFailure/unexpectedValue(column:expected:found:)``.
  public func text(_ index: Int) throws(SQLFailure) -> String {
    guard case .text(let value) = self[index] else { throw mismatch(index, "text") }
    return value
  }

  /// Returns the bytes in a column.
  ///
  /// - Throws: ``SQLFailure/unexpectedValue(column:expected:found:)``.
  public func blob(_ index: Int) throws(SQLFailure) -> [UInt8] {
    guard case .blob(let value) = self[index] else { throw mismatch(index, "bytes") }
    return value
  }

  /// Returns the identifier or enumeration in a column.
  ///
  /// - Throws: ``SQLFailure/unexpectedValue(column:expected:found:)``.
  @inlinable public func value<Value: SQLRepresentable>(
    _ index: Int, as type: Value.Type = Value.self
  ) throws(SQLFailure) -> Value {
    guard let value = Value(sqlValue: self[index]) else { throw mismatch(index, "\(Value.self)") }
    return value
  }

  /// Returns the value that `read` gets from a column, or `nil` for `NULL`: `try row.optional(3, row.text)`.
  ///
  /// - Throws: The errors of `read`.
  @inlinable public func optional<Value>(
    _ index: Int, _ read: (Int) throws(SQLFailure) -> Value
  ) throws(SQLFailure) -> Value? {
    self[index] == .null ? nil : try read(index)
  }

  @usableFromInline func mismatch(_ index: Int, _ expected: String) -> SQLFailure {
    .unexpectedValue(column: index, expected: expected, found: self[index].kind)
  }
}
