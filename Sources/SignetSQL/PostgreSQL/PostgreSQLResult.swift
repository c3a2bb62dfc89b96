import CPostgreSQL

/// The server's result of one statement, freed with its last reference.
@safe final class PostgreSQLResult {
  private let handle: OpaquePointer?
  private let types: [PostgreSQLType?]

  init(_ handle: OpaquePointer?) {
    unsafe self.handle = handle
    let count = unsafe PQnfields(handle)
    types = (0..<count).map { PostgreSQLType(rawValue: unsafe PQftype(handle, $0)) }
  }

  deinit { unsafe PQclear(handle) }

  var isSuccess: Bool {
    let status = unsafe PQresultStatus(handle)
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
  }

  /// The completed command, such as `COMMIT` or `INSERT 0 1`.
  var command: String { unsafe PQcmdStatus(handle).map { unsafe String(cString: $0) } ?? "" }

  var changedRowCount: Int {
    command.hasPrefix("SELECT")
      ? 0 : unsafe PQcmdTuples(handle).flatMap { unsafe Int(String(cString: $0)) } ?? 0
  }

  var rowCount: Int32 { unsafe PQntuples(handle) }

  var parameterTypes: [Oid] {
    let count = unsafe PQnparams(handle)
    return (0..<count).map { unsafe PQparamtype(handle, $0) }
  }

  /// Copies a row out.
  func row(_ row: Int32) throws(SQLFailure) -> SQLRow {
    var values: [SQLValue] = []
    values.reserveCapacity(types.count)
    for column in types.indices { values.append(try value(row, column)) }
    return SQLRow(values: values)
  }

  private func value(_ row: Int32, _ column: Int) throws(SQLFailure) -> SQLValue {
    let index = Int32(column)
    if unsafe PQgetisnull(handle, row, index) == 1 { return .null }
    let bytes = unsafe UnsafeRawBufferPointer(
      start: PQgetvalue(handle, row, index), count: Int(PQgetlength(handle, row, index)))
    switch (types[column], bytes.count) {
    case (.int8, 8): return .integer(unsafe Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
    case (.int4, 4): return .integer(Int64(unsafe Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))))
    case (.bool, 1): return .integer(unsafe bytes[0] == 0 ? 0 : 1)
    case (.float8, 8):
      return .real(Double(bitPattern: unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))))
    case (.text, _), (.varchar, _), (.name, _): return .text(unsafe String(decoding: bytes, as: UTF8.self))
    case (.bytea, _): return .blob(unsafe [UInt8](bytes))
    default:
      throw .unexpectedValue(
        column: column, expected: "a type that is known",
        found: "type \(unsafe PQftype(handle, index)) of PostgreSQL; CAST it in the statement")
    }
  }

  /// The failure; the only mapping of SQLSTATEs to cases (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
  var failure: SQLFailure {
    let state = field(signet_pq_state)
    return switch state {
    case "40001", "40P01": .conflict
    case "23505": .constraint(.unique, name: field(signet_pq_constraint))
    case "23503": .constraint(.foreignKey, name: field(signet_pq_constraint))
    case "23502": .constraint(.notNull, name: field(signet_pq_column))
    case "23514": .constraint(.check, name: field(signet_pq_constraint))
    case "25006": .readOnly
    case "55P03", "53300", "57P03": .busy
    case "53100": .full
    case "25P02": .stepFailed
    case "XX001", "XX002", "58030": .damaged(code: "SQLSTATE \(state)")
    case "42501": .readOnly
    case Self.endedIdle: .unreachable(reason: "SQLSTATE \(state)")
    case _ where state.hasPrefix("08") || state.hasPrefix("57P"):
      .unreachable(reason: "SQLSTATE \(state)")
    // The message for a statement that does not compile is made before any value is bound.
    case _ where state.hasPrefix("42"): .invalidStatement(message: field(signet_pq_message))
    default: .other(code: "SQLSTATE \(state)")
    }
  }

  private static let endedIdle = "25P03"

  /// Indicates whether the server has ended the session because it was idle in a transaction, which is then rolled back.
  var isEndedIdle: Bool { field(signet_pq_state) == Self.endedIdle }

  /// Indicates whether the server does not support the request.
  var isUnsupported: Bool { field(signet_pq_state) == "0A000" }

  private func field(_ code: Int32) -> String {
    unsafe PQresultErrorField(handle, code).map { unsafe String(cString: $0) } ?? ""
  }
}
