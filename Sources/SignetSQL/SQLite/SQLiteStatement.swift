import CSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A compiled statement, finalised with its last reference.
@safe final class SQLiteStatement {
  /// Indicates whether its rows are being read.
  var isRunning = false
  /// Indicates whether it changes nothing.
  let isReadOnly: Bool
  private let handle: OpaquePointer
  private let connection: OpaquePointer
  /// The index of the value for each parameter of SQLite: `$2` may occur before `$1`, and SQLite treats both as names.
  private let order: [Int]
  private let valueCount: Int

  /// Compiles one statement.
  ///
  /// The corresponding C function is `sqlite3_prepare_v3`.
  ///
  /// - Precondition: Its parameters are `$1`, `$2`…, without gaps.
  init(_ sql: String, _ connection: OpaquePointer) throws(SQLFailure) {
    var handle: OpaquePointer?
    var isSingle = true
    let code = unsafe sql.withCString { text in
      var rest: UnsafePointer<CChar>?
      let code = unsafe sqlite3_prepare_v3(
        connection, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, &rest)
      if let rest = unsafe rest { isSingle = unsafe rest.pointee == 0 }
      return code
    }
    guard code == SQLITE_OK else { throw unsafe SQLFailure(of: connection) }
    guard let handle = unsafe handle, isSingle else {
      unsafe sqlite3_finalize(handle)
      throw .invalidStatement(message: "there is more than one statement, or none")
    }
    let count = unsafe sqlite3_bind_parameter_count(handle)
    order = (0..<count).map { index in
      let name =
        unsafe sqlite3_bind_parameter_name(handle, index + 1).map { unsafe String(cString: $0) } ?? "?"
      guard name.hasPrefix("$"), let number = Int(name.dropFirst()) else {
        preconditionFailure("parameters are $1, $2…: \(sql)")
      }
      return number - 1
    }
    valueCount = (order.max() ?? -1) + 1
    precondition(Set(order).count == valueCount, "parameters are $1, $2…, without gaps: \(sql)")
    isReadOnly = unsafe sqlite3_stmt_readonly(handle) != 0
    unsafe self.handle = handle
    unsafe self.connection = connection
  }

  deinit { unsafe sqlite3_finalize(handle) }

  /// Sets the parameters.
  func bind(_ values: [SQLValue]) throws(SQLFailure) {
    precondition(
      values.count == valueCount, "the statement has \(valueCount) parameters and \(values.count) values")
    for (offset, number) in order.enumerated() {
      let index = Int32(offset + 1)
      let code =
        switch values[number] {
        case .null: unsafe sqlite3_bind_null(handle, index)
        case .integer(let value): unsafe sqlite3_bind_int64(handle, index, value)
        case .real(let value):
          value.isNaN ? SQLITE_MISMATCH : unsafe sqlite3_bind_double(handle, index, value)
        case .text(var value):
          value.withUTF8 { text in
            // `memchr` instead of `contains`, which compares one byte at a time.
            unsafe text.baseAddress.flatMap { unsafe memchr($0, 0, text.count) } != nil
              ? SQLITE_FORMAT
              : text.withMemoryRebound(to: CChar.self) { text in
                unsafe signet_sqlite3_bind_text(handle, index, text.baseAddress, UInt64(text.count))
              }
          }
        case .blob(let value) where value.isEmpty: unsafe sqlite3_bind_zeroblob(handle, index, 0)
        case .blob(let value):
          unsafe value.withUnsafeBytes { bytes in
            unsafe signet_sqlite3_bind_blob(handle, index, bytes.baseAddress, UInt64(bytes.count))
          }
        }
      switch code {
      case SQLITE_OK: break
      case SQLITE_MISMATCH: throw .unsuitableValue(parameter: number + 1, reason: "is not a number (NaN)")
      case SQLITE_FORMAT: throw .unsuitableValue(parameter: number + 1, reason: "is text with a NUL")
      default: throw unsafe SQLFailure(of: connection)
      }
    }
  }

  /// Advances to the next row.
  ///
  /// - Returns: `true` if there is one.
  func step() throws(SQLFailure) -> Bool {
    switch unsafe sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw unsafe SQLFailure(of: connection)
    }
  }

  /// Copies the current row out.
  func row() -> SQLRow {
    let count = unsafe sqlite3_column_count(handle)
    return SQLRow(values: (0..<count).map(value))
  }

  /// Ends the execution and clears the bound values.
  func reset() {
    unsafe sqlite3_reset(handle)  // returns the code of the last step again, which was checked there
    unsafe sqlite3_clear_bindings(handle)
  }

  private func value(_ index: Int32) -> SQLValue {
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
