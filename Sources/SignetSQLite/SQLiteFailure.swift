import CSQLite
import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reason why an SQLite operation failed.
///
/// Codes are SQLite's own (<https://www.sqlite.org/rescode.html>), so that its documentation can be searched. No text
/// contains a bound value.
@nonexhaustive public enum SQLiteFailure: Error, Hashable, Sendable {
  /// Another connection held the file for longer than the busy timeout (`SQLITE_BUSY`, `SQLITE_LOCKED`).
  case busy(extendedCode: Int32)
  /// The disk, or the page limit of the database, is full (`SQLITE_FULL`, or any call that failed with `ENOSPC` or `EDQUOT`).
  case diskFull(extendedCode: Int32)
  /// The file, or its folder, cannot be written (`SQLITE_READONLY`, `EROFS`).
  case readOnly(extendedCode: Int32)
  /// The file is not a database or is damaged (`SQLITE_NOTADB`, `SQLITE_CORRUPT`).
  case corrupt(extendedCode: Int32)
  /// A constraint of the schema rejected the change. `columns` has their names in the schema (`table.column, …`); it may be empty.
  case constraint(ConstraintKind, columns: String, extendedCode: Int32)
  /// The file could not be opened or created (`SQLITE_CANTOPEN`, `SQLITE_PERM`). `errno` is that of the system, or 0.
  case cannotOpen(extendedCode: Int32, errno: Int32)
  /// Reading or writing failed (`SQLITE_IOERR`). `errno` is that of the system, or 0.
  case inputOutput(extendedCode: Int32, errno: Int32)
  /// A newer version of the program wrote the database.
  case tooNew(found: Int, supported: Int)
  /// The SQL is not valid for this schema. `message` is SQLite's, made before any value was bound.
  case invalidStatement(message: String)
  /// A column does not have the expected storage class.
  case unexpectedValue(column: String, expected: String, found: String)
  /// Any other result code.
  case other(code: Int32, extendedCode: Int32)

  /// The kinds of constraints that SQLite distinguishes.
  public enum ConstraintKind: String, Sendable, Hashable {
    /// `CHECK`.
    case check
    /// A value of another storage class in a column of a `STRICT` table.
    case dataType
    /// `FOREIGN KEY`.
    case foreignKey
    /// `NOT NULL`.
    case notNull
    /// `PRIMARY KEY`.
    case primaryKey
    /// A duplicate rowid.
    case rowID
    /// `RAISE(ABORT, …)` in a trigger.
    case trigger
    /// `UNIQUE`.
    case unique
    /// Any other constraint.
    case other
  }

  /// The extended result code, or `SQLITE_ERROR` or `SQLITE_MISMATCH` if this module found the problem itself.
  public var extendedCode: Int32 {
    switch self {
    case .busy(let code), .diskFull(let code), .readOnly(let code), .corrupt(let code),
      .constraint(_, _, let code), .cannotOpen(let code, _), .inputOutput(let code, _), .other(_, let code):
      code
    case .unexpectedValue: SQLITE_MISMATCH
    case .tooNew, .invalidStatement: SQLITE_ERROR
    }
  }
}

extension SQLiteFailure: CustomStringConvertible {
  /// The failure and its remedy; never a bound value.
  public var description: String {
    switch self {
    case .busy(let code):
      "the database is in use by another process (SQLite \(code)); try again, or end that process"
    case .diskFull(let code):
      "the disk is full (SQLite \(code)); nothing was changed: free some space and try again"
    case .readOnly(let code):
      "the database may not be written to (SQLite \(code)); give this user write access to the file and its folder"
    case .corrupt(let code):
      "the file is damaged or not a database (SQLite \(code)); restore it from a backup or set it up anew"
    case .constraint(let kind, let columns, let code):
      "the \(kind.rawValue) constraint\(columns.isEmpty ? "" : " on \(columns)") refused the change (SQLite \(code))"
    case .cannotOpen(let code, let error):
      "the database file cannot be opened (SQLite \(code)\(Self.reason(error))); "
        + "check that its folder exists and that this user may read and write it"
    case .inputOutput(let code, let error):
      "reading or writing the database failed (SQLite \(code)\(Self.reason(error))); check the disk"
    case .tooNew(let found, let supported):
      "the database has version \(found) and this program knows versions up to \(supported); "
        + "install the newer program, nothing was changed"
    case .invalidStatement(let message): "the SQL is not valid: \(message)"
    case .unexpectedValue(let column, let expected, let found):
      "column \(column) should hold \(expected) and holds \(found); the file may have been changed by hand"
    case .other(let code, let extended): "SQLite failed with code \(code) (extended \(extended))"
    }
  }

  private static func reason(_ error: Int32) -> String {
    error == 0 ? "" : ", \(systemMessage(error))"
  }
}

extension SQLiteFailure {
  /// Maps C result codes to cases; no other code does so.
  ///
  /// - Parameters:
  ///   - extended: The extended result code of a failed call.
  ///   - systemError: `sqlite3_system_errno`, or 0.
  ///   - message: `sqlite3_errmsg`; used only for the names in constraints, because elsewhere it could contain values.
  init(extended: Int32, systemError: Int32, message: String) {
    let code = extended & 0xFF
    let fromSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code)
    self =
      switch code {
      case _ where fromSystem && [ENOSPC, EDQUOT].contains(systemError): .diskFull(extendedCode: extended)
      case _ where fromSystem && systemError == EROFS: .readOnly(extendedCode: extended)
      case SQLITE_BUSY, SQLITE_LOCKED: .busy(extendedCode: extended)
      case SQLITE_FULL: .diskFull(extendedCode: extended)
      case SQLITE_READONLY: .readOnly(extendedCode: extended)
      case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: .corrupt(extendedCode: extended)
      case SQLITE_CONSTRAINT:
        .constraint(
          ConstraintKind(extended), columns: Self.columns(in: message), extendedCode: extended)
      case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: .cannotOpen(extendedCode: extended, errno: systemError)
      case SQLITE_IOERR: .inputOutput(extendedCode: extended, errno: systemError)
      default: .other(code: code, extendedCode: extended)
      }
  }

  /// Extracts `t.a, t.b` from `UNIQUE constraint failed: t.a, t.b`; any other message gives an empty text.
  private static func columns(in message: String) -> String {
    guard let end = message.firstRange(of: " constraint failed: ")?.upperBound else { return "" }
    return String(message[end...])
  }
}

extension SQLiteFailure.ConstraintKind {
  /// From <https://www.sqlite.org/rescode.html#constraint_check> and following: the macros are sums that Swift cannot import.
  init(_ extendedCode: Int32) {
    self =
      switch extendedCode >> 8 {
      case 1: .check
      case 3: .foreignKey
      case 5: .notNull
      case 6: .primaryKey
      case 7: .trigger
      case 8: .unique
      case 10: .rowID
      case 12: .dataType
      default: .other
      }
  }
}
