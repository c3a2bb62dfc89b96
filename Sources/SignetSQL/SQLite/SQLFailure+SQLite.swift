import CSQLite
import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension SQLFailure {
  /// Makes the failure from the last error of a connection.
  init(of connection: OpaquePointer) {
    unsafe self.init(
      extended: sqlite3_extended_errcode(connection), systemError: sqlite3_system_errno(connection),
      message: String(cString: sqlite3_errmsg(connection)))
  }

  /// Maps SQLite's result codes to cases; no other code does so.
  ///
  /// - Parameters:
  ///   - extended: The extended result code of a failed call.
  ///   - systemError: `sqlite3_system_errno`, or 0.
  ///   - message: `sqlite3_errmsg`; used only for errors that occur before values are bound, and for the names of constraints.
  init(extended: Int32, systemError: Int32, message: String) {
    let code = extended & 0xFF
    let isFromSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code)
    self =
      switch code {
      case _ where isFromSystem && [ENOSPC, EDQUOT].contains(systemError): .full
      case _ where isFromSystem && systemError == EROFS: .readOnly
      case SQLITE_BUSY, SQLITE_LOCKED: .busy
      case SQLITE_FULL: .full
      case SQLITE_READONLY: .readOnly
      case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_IOERR: .damaged(code: "SQLite \(extended)")
      case SQLITE_CONSTRAINT: .constraint(Constraint(sqlite: extended), name: Self.name(in: message))
      case SQLITE_MISMATCH: .constraint(.dataType, name: "")
      case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
        .unreachable(
          reason: "SQLite \(extended)" + (systemError == 0 ? "" : ": \(systemMessage(systemError))"))
      case SQLITE_ERROR: .invalidStatement(message: message)
      default: .other(code: "SQLite \(extended)")
      }
  }

  /// Extracts `t.a, t.b` from `UNIQUE constraint failed: t.a, t.b`; any other message gives an empty text.
  private static func name(in message: String) -> String {
    guard let end = message.firstRange(of: " constraint failed: ")?.upperBound else { return "" }
    return String(message[end...])
  }
}

extension SQLFailure.Constraint {
  /// From <https://www.sqlite.org/rescode.html#constraint_check> and following: the macros are sums that Swift cannot import.
  fileprivate init(sqlite extendedCode: Int32) {
    self =
      switch extendedCode >> 8 {
      case 3: .foreignKey
      case 5: .notNull
      case 6, 8, 10: .unique
      case 12: .dataType
      default: .check
      }
  }
}
