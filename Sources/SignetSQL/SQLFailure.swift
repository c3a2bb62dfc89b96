/// The reason why a database operation failed.
///
/// The cases mean the same for SQLite and PostgreSQL.
///
/// Codes are those of the database (<https://www.sqlite.org/rescode.html>, SQLSTATE in PostgreSQL's appendix A), so that its
/// documentation can be searched. No text contains a bound value.
public enum SQLFailure: Error, Hashable, Sendable {
  /// The file cannot be opened, or the connection to the server could not be made, or failed. Nothing was changed.
  case unreachable(reason: String)
  /// The address of the server is malformed.
  case unreadableAddress(AddressFault)
  /// The connection failed while the server committed, so the outcome is unknown.
  case outcomeUnknown
  /// The schema is that of a newer program (`found` above `supported`), or of another program (`found` is `nil`).
  case otherSchema(found: Int?, supported: Int)
  /// The database has the tables of this program and should be empty, or is empty (`isEmpty`) and should have them.
  case unexpectedContent(isEmpty: Bool)
  /// The version of the database server is not supported.
  case otherServer(version: String)
  /// The file, its folder or the server cannot be written.
  case readOnly
  /// Others kept the database busy for longer than this step could wait, or for all its retries.
  case busy
  /// The step conflicted with another one and is retried automatically; the body of a step must not catch it.
  case conflict
  /// The disk is full.
  case full
  /// The file is not a database or is damaged, or reading it failed.
  case damaged(code: String)
  /// A constraint of the schema rejected the change; `name` is the database's name for it, or empty.
  case constraint(Constraint, name: String)
  /// A conditional write changed another number of rows than expected.
  case unexpectedChange(expected: Int, found: Int)
  /// A column does not have the expected type or value.
  case unexpectedValue(column: Int, expected: String, found: String)
  /// A value that not every database can store: text with a NUL, or a NaN.
  case unsuitableValue(parameter: Int, reason: String)
  /// The SQL is not valid for this schema. `message` was made before any value was bound.
  case invalidStatement(message: String)
  /// An earlier statement of the step failed; the step can only end.
  case stepFailed
  /// The database was closed in this process.
  case closed
  /// Any other failure.
  case other(code: String)

  /// The fault in the address of a server.
  public enum AddressFault: Sendable, Hashable {
    /// It cannot be parsed, or a reserved character in its user or password is not percent-encoded.
    case form(hasUser: Bool)
    /// The port is not a valid number.
    case port
    /// The `sslmode` is unknown to libpq.
    case sslMode

    static let sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]
  }

  /// The kinds of constraints.
  public enum Constraint: String, Sendable, Hashable {
    /// `UNIQUE` or `PRIMARY KEY`.
    case unique
    /// `FOREIGN KEY`.
    case foreignKey
    /// `NOT NULL`.
    case notNull
    /// `CHECK`.
    case check
    /// A value of another type than that of the column.
    case dataType
  }
}

extension SQLFailure: CustomStringConvertible {
  /// The failure and its remedy.
  public var description: String {
    switch self {
    case .unreachable(let reason):
      "the database cannot be reached (\(reason)); nothing was changed: check its address and this user's access to it"
    case .unreadableAddress(.form(hasUser: true)):
      "the address of the database cannot be read; in its user and its password, write @, :, /, ?, # and % in percent-encoding"
    case .unreadableAddress(.form(hasUser: false)):
      "the address of the database cannot be read; it is written postgres://HOST[:PORT]/DATABASE"
    case .unreadableAddress(.port): "the port in the address of the database is not one of 1 to 65535"
    case .unreadableAddress(.sslMode):
      "the sslmode in the address of the database is not one of \(AddressFault.sslModes.joined(separator: ", "))"
    case .outcomeUnknown:
      "the connection to the database broke during COMMIT; check whether the change was made before you repeat it"
    case .otherSchema(let found?, let supported):
      "the database has schema version \(found) and this program supports versions up to \(supported); "
        + "install the newer program, nothing was changed"
    case .otherSchema(nil, _):
      "the database contains tables that this program did not create; nothing was changed: use an empty database"
    case .unexpectedContent(true):
      "the database is empty, but must contain the data of this server; restore it from a backup"
    case .unexpectedContent(false):
      "the database contains the data of another server; nothing was changed: use an empty database"
    case .otherServer(let version):
      "the database server has version \(version); use PostgreSQL \(PostgreSQLSession.oldestVersion / 10_000) or newer"
    case .readOnly:
      "the database is read-only; give this user write access, or connect to the primary server"
    case .busy: "the database is in use by others; try again in a moment"
    case .conflict: "another step changed the same rows; the step runs again"
    case .full: "the disk of the database is full; nothing was changed: free some space and try again"
    case .damaged(let code):
      "the database is damaged or cannot be read (\(code)); check the disk, then restore it from a backup"
    case .constraint(let kind, let name):
      "the \(kind.rawValue) constraint\(name.isEmpty ? "" : " \(name)") refused the change"
    case .unexpectedChange(let expected, let found):
      "a change must affect \(expected) row\(expected == 1 ? "" : "s"), but would affect \(found); nothing was changed"
    case .unexpectedValue(let column, let expected, let found):
      "column \(column) must contain \(expected), but contains \(found); the database may have been changed by hand"
    case .unsuitableValue(let parameter, let reason): "the value of $\(parameter) \(reason)"
    case .invalidStatement(let message): "the SQL is not valid: \(message)"
    case .stepFailed: "a statement of this step failed before; nothing was changed"
    case .closed: "the database was closed"
    case .other(let code): "the database failed with code \(code); nothing was changed: see its log"
    }
  }
}
