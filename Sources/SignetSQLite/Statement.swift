import CSQLite

/// A compiled statement, finalised with its last reference.
@safe final class Statement {
  let sql: String
  /// Indicates whether its rows are being read.
  var isRunning = false
  private let handle: OpaquePointer
  private let connection: OpaquePointer
  private var names: [String] = []
  private var namesFor: Int32 = -1

  /// Compiles one statement.
  ///
  /// The corresponding C function is `sqlite3_prepare_v3`.
  ///
  /// - Throws: ``SQLiteFailure/invalidStatement(message:)`` and failures of reading the schema.
  init(_ sql: String, connection: OpaquePointer) throws(SQLiteFailure) {
    var handle: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    var isSingle = true
    let code = unsafe sql.withCString { text in
      var rest: UnsafePointer<CChar>?
      let code = unsafe sqlite3_prepare_v3(connection, text, -1, flags, &handle, &rest)
      if let rest = unsafe rest { isSingle = unsafe rest.pointee == 0 }
      return code
    }
    if code == SQLITE_ERROR {
      throw unsafe .invalidStatement(message: String(cString: sqlite3_errmsg(connection)))
    }
    guard code == SQLITE_OK else { throw unsafe failure(of: connection) }
    guard let handle = unsafe handle else { throw .invalidStatement(message: "there is no statement") }
    guard isSingle else {
      unsafe sqlite3_finalize(handle)
      throw .invalidStatement(message: "there is more than one statement, or text after its semicolon")
    }
    self.sql = sql
    unsafe self.handle = handle
    unsafe self.connection = connection
  }

  deinit { unsafe sqlite3_finalize(handle) }

  /// Binds `values` to the parameters 1, 2, 3 ….
  func bind(_ values: [SQLiteValue]) throws(SQLiteFailure) {
    let expected = Int(unsafe sqlite3_bind_parameter_count(handle))
    precondition(
      values.count == expected, "the statement has \(expected) parameters and \(values.count) values: \(sql)")
    for (offset, value) in values.enumerated() {
      let index = Int32(offset + 1)
      let code =
        switch value {
        case .null: unsafe sqlite3_bind_null(handle, index)
        case .integer(let value): unsafe sqlite3_bind_int64(handle, index, value)
        case .real(let value): unsafe sqlite3_bind_double(handle, index, value)
        case .text(var value):
          value.withUTF8 { text in
            unsafe text.withMemoryRebound(to: CChar.self) { text in
              unsafe signet_sqlite3_bind_text(
                handle, index, text.baseAddress, UInt64(text.count))
            }
          }
        case .blob(let value) where value.isEmpty: unsafe sqlite3_bind_zeroblob(handle, index, 0)
        case .blob(let value):
          unsafe value.withUnsafeBytes { bytes in
            unsafe signet_sqlite3_bind_blob(handle, index, bytes.baseAddress, UInt64(bytes.count))
          }
        }
      guard code == SQLITE_OK else { throw unsafe failure(of: connection) }
    }
  }

  /// Advances to the next row.
  ///
  /// - Returns: `true` if there is one.
  func step() throws(SQLiteFailure) -> Bool {
    switch unsafe sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw unsafe failure(of: connection)
    }
  }

  /// Copies the current row out.
  func row() -> Row {
    let count = unsafe sqlite3_column_count(handle)
    // SQLite compiles a statement again when the schema changes, and the columns of `SELECT *` change with it.
    let compiled = unsafe sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0)
    if compiled != namesFor {
      names = (0..<count).map { index in
        unsafe sqlite3_column_name(handle, index).map { unsafe String(cString: $0) } ?? ""
      }
      namesFor = compiled
    }
    return Row(names: names, values: (0..<count).map(value))
  }

  /// Ends the execution and clears the bound values.
  func reset() {
    unsafe sqlite3_reset(handle)  // returns the code of the last step again, which was checked there
    unsafe sqlite3_clear_bindings(handle)
  }

  private func value(_ index: Int32) -> SQLiteValue {
    switch unsafe sqlite3_column_type(handle, index) {
    case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(handle, index))
    case SQLITE_FLOAT: return .real(unsafe sqlite3_column_double(handle, index))
    case SQLITE_TEXT:
      guard let text = unsafe sqlite3_column_text(handle, index) else { return .text("") }
      let count = Int(unsafe sqlite3_column_bytes(handle, index))
      return .text(unsafe String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
    case SQLITE_BLOB:
      guard let bytes = unsafe sqlite3_column_blob(handle, index) else { return .blob([]) }
      let count = Int(unsafe sqlite3_column_bytes(handle, index))
      return .blob(unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
    default: return .null
    }
  }
}

/// The last failure of a connection.
func failure(of connection: OpaquePointer) -> SQLiteFailure {
  unsafe SQLiteFailure(
    extended: sqlite3_extended_errcode(connection), systemError: sqlite3_system_errno(connection),
    message: String(cString: sqlite3_errmsg(connection)))
}
