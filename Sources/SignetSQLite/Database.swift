import CSQLite
import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One connection to an SQLite database file, closed with its last reference.
///
/// A connection is not `Sendable`: it belongs to one actor (see `BlockingExecutor`) or one thread. Any number of connections, of any
/// number of processes, may use one file. Every commit is on the disk before the call returns (`WAL`, `synchronous=FULL`). Deleted
/// content is overwritten (`secure_delete`). The schema in the file is not trusted, and triggers and views in it are disabled.
@safe package final class Database {
  /// The access of a connection to its file.
  package enum Mode: Sendable, Hashable {
    /// Reads and writes, and creates the file (mode 0600) if it is missing. The folder must exist.
    case readWriteCreate
    /// Reads and writes an existing file.
    case readWrite
    /// Reads an existing file.
    case readOnly
  }

  let connection: OpaquePointer
  private var statements: [String: Statement] = [:]
  private static let statementLimit = 128
  /// The limit for one value, so that a damaged file cannot make this process allocate SQLite's maximum of 1 GB: 64 MiB.
  private static let maximumValueByteCount: Int32 = 64 << 20
  /// A seam with which tests observe or interrupt a flow between any two statements.
  package typealias StatementObserver = @Sendable (_ sql: String) throws(SQLiteFailure) -> Void

  /// Called with each statement before it runs.
  package var willExecute: StatementObserver?

  var isTransactionExpected = false
  var savepointDepth = 0

  /// Opens a file and configures the connection.
  ///
  /// The corresponding C function is `sqlite3_open_v2`; a path that is a symbolic link is rejected.
  ///
  /// - Parameters:
  ///   - path: The file. `-wal` and `-shm` files are created next to it, with the same permissions.
  ///   - mode: The access.
  ///   - busyTimeoutMilliseconds: The time that a call waits for another connection before ``SQLiteFailure/busy(extendedCode:)``.
  /// - Throws: ``SQLiteFailure``: `cannotOpen`, `corrupt`, `readOnly`, `diskFull`, `busy`.
  package init(
    path: String, mode: Mode = .readWriteCreate, busyTimeoutMilliseconds: Int = 10_000
  ) throws(SQLiteFailure) {
    if mode == .readWriteCreate { try Self.makeFile(path) }
    let flags = mode == .readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
    var opened: OpaquePointer?
    let code = unsafe sqlite3_open_v2(
      path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE, nil)
    guard let connection = unsafe opened else {
      throw SQLiteFailure(extended: SQLITE_NOMEM, systemError: 0, message: "")
    }
    do throws(SQLiteFailure) {
      guard code == SQLITE_OK else { throw unsafe failure(of: connection) }
      // If SQLite may not write, it silently opens the file for reading, and only the first change would fail. This is
      // checked before anything is read, because a log that is opened in that way stays closed to all writers.
      guard unsafe mode == .readOnly || sqlite3_db_readonly(connection, "main") == 0 else {
        throw SQLiteFailure(extended: SQLITE_READONLY, systemError: 0, message: "")
      }
      try unsafe Self.configure(connection, mode, busyTimeoutMilliseconds)
    } catch {
      unsafe sqlite3_close_v2(connection)
      throw error
    }
    unsafe self.connection = connection
  }

  deinit {
    statements = [:]
    unsafe sqlite3_close_v2(connection)
  }

  /// Runs one statement, without its rows.
  ///
  /// - Parameters:
  ///   - sql: One statement with `?` for each value. It is compiled once and cached.
  ///   - values: One value for each `?`.
  /// - Throws: ``SQLiteFailure``.
  package func execute(_ sql: String, _ values: SQLiteValue...) throws(SQLiteFailure) {
    _ = try query(sql, values)
  }

  /// Runs one statement with its values in an array, without its rows.
  ///
  /// - Throws: ``SQLiteFailure``.
  package func execute(_ sql: String, _ values: [SQLiteValue]) throws(SQLiteFailure) {
    _ = try query(sql, values)
  }

  /// Runs one statement and returns all its rows.
  ///
  /// - Throws: ``SQLiteFailure``.
  package func query(_ sql: String, _ values: SQLiteValue...) throws(SQLiteFailure) -> [Row] {
    try query(sql, values)
  }

  /// Runs one statement with its values in an array and returns all its rows.
  ///
  /// - Throws: ``SQLiteFailure``.
  package func query(_ sql: String, _ values: [SQLiteValue]) throws(SQLiteFailure) -> [Row] {
    let statement = try acquire(sql)
    defer { release(statement) }
    try statement.bind(values)
    var rows: [Row] = []
    while try statement.step() { rows.append(statement.row()) }
    return rows
  }

  /// Runs one statement and passes its rows one by one, for results that are too large for memory.
  ///
  /// - Throws: ``SQLiteFailure``, and the errors of `body`, which end the statement.
  package func forEachRow(
    _ sql: String, _ values: [SQLiteValue] = [], _ body: (Row) throws -> Void
  ) throws {
    let statement = try acquire(sql)
    defer { release(statement) }
    try statement.bind(values)
    while try statement.step() { try body(statement.row()) }
  }

  /// Runs any number of statements without values, such as those of a schema.
  ///
  /// The corresponding C function is `sqlite3_exec`.
  ///
  /// - Throws: ``SQLiteFailure``.
  package func execute(script: String) throws(SQLiteFailure) {
    try refuseAfterRollback()
    try willExecute?(script)
    try unsafe Self.execute(script, on: connection)
  }

  /// The number of rows that the last `INSERT`, `UPDATE` or `DELETE` changed.
  package var changes: Int { Int(unsafe sqlite3_changes64(connection)) }

  /// The rowid of the last `INSERT`.
  package var lastInsertedRowID: Int64 { unsafe sqlite3_last_insert_rowid(connection) }

  /// Indicates whether a transaction is open.
  package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(connection) == 0 }
}

extension Database {
  /// Returns the compiled statement; if it is running already, a nested use of the same SQL gets another one.
  private func acquire(_ sql: String) throws(SQLiteFailure) -> Statement {
    try refuseAfterRollback()
    try willExecute?(sql)
    let cached = statements[sql]
    if let cached, !cached.isRunning {
      cached.isRunning = true
      return cached
    }
    let statement = try unsafe Statement(sql, connection: connection)
    if cached == nil {
      if statements.count >= Self.statementLimit { statements.removeAll(keepingCapacity: true) }
      statements[sql] = statement
    }
    statement.isRunning = true
    return statement
  }

  private func release(_ statement: Statement) {
    statement.reset()
    statement.isRunning = false
  }

  /// Throws if SQLite has ended the transaction.
  ///
  /// After a full disk or an I/O error SQLite rolls back the whole transaction automatically. If a body ignored the error,
  /// its next statement would be committed separately.
  private func refuseAfterRollback() throws(SQLiteFailure) {
    guard isTransactionExpected && !isInTransaction else { return }
    throw .other(code: SQLITE_ABORT, extendedCode: SQLITE_ABORT | (2 << 8))  // SQLITE_ABORT_ROLLBACK
  }

  /// Creates an empty file that only its owner can read and write, unless there is a file already.
  ///
  /// SQLite would create it with mode 0644 under the usual umask, and before a later `chmod` others could open it. SQLite
  /// gives `-wal` and `-shm` the mode of the main file. The file gets its name only after it was closed. Otherwise, closing
  /// its descriptor could release the POSIX locks that another connection of this process holds on it by then.
  static func makeFile(_ path: String) throws(SQLiteFailure) {
    if unsafe access(path, F_OK) == 0 { return }
    do throws(FileFailure) { try PrivateFile.place(RawSpan(), at: path, .keeping) } catch {
      throw SQLiteFailure(extended: SQLITE_CANTOPEN, systemError: error.code, message: "")
    }
  }

  /// Applies the settings of every connection.
  ///
  /// See <https://www.sqlite.org/pragma.html> and, for hostile files, <https://www.sqlite.org/security.html>.
  private static func configure(
    _ connection: OpaquePointer, _ mode: Mode, _ busyTimeoutMilliseconds: Int
  ) throws(SQLiteFailure) {
    try unsafe waitWhenBusy(connection, busyTimeoutMilliseconds)
    unsafe sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, maximumValueByteCount)
    for (option, on) in [
      (SQLITE_DBCONFIG_DEFENSIVE, true), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
      (SQLITE_DBCONFIG_DQS_DDL, false), (SQLITE_DBCONFIG_DQS_DML, false),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false),
      // No schema of this program has any, so one in the file was put there by another program.
      (SQLITE_DBCONFIG_ENABLE_TRIGGER, false), (SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
      guard unsafe signet_sqlite3_configure(connection, option, on ? 1 : 0) == SQLITE_OK else {
        throw unsafe failure(of: connection)
      }
    }
    try unsafe execute(
      """
      PRAGMA trusted_schema = OFF;
      PRAGMA cell_size_check = ON;
      PRAGMA mmap_size = 0;
      PRAGMA foreign_keys = ON;
      PRAGMA secure_delete = ON;
      PRAGMA synchronous = FULL;
      """, on: connection)
    if mode == .readOnly {
      // Reads the header, so that a file that is no database is rejected here.
      try unsafe execute("PRAGMA schema_version", on: connection)
    } else {
      try unsafe enterWAL(connection, busyTimeoutMilliseconds)
    }
  }

  /// Makes calls wait for other connections, with a retry every 2 ms.
  ///
  /// `sqlite3_busy_timeout` increases its pauses up to 100 ms. Under steady load, the connection that has waited longest
  /// would then have the least chance to find the lock free.
  private static func waitWhenBusy(
    _ connection: OpaquePointer, _ busyTimeoutMilliseconds: Int
  ) throws(SQLiteFailure) {
    let rounds = unsafe UnsafeMutableRawPointer(bitPattern: max(busyTimeoutMilliseconds, 0) / 2)
    let code = unsafe sqlite3_busy_handler(
      connection,
      { rounds, count in
        guard Int(count) < Int(bitPattern: rounds) else { return 0 }
        usleep(2_000)
        return 1
      }, rounds)
    guard code == SQLITE_OK else { throw unsafe failure(of: connection) }
  }

  /// Switches the file to write-ahead logging.
  ///
  /// For a new file this needs an exclusive lock, for which SQLite does not call the busy handler. Processes that open a new
  /// file at the same time would fail, so this waits as the handler would.
  private static func enterWAL(
    _ connection: OpaquePointer, _ busyTimeoutMilliseconds: Int
  ) throws(SQLiteFailure) {
    let start = ContinuousClock.now
    while true {
      do throws(SQLiteFailure) {
        let statement = try unsafe Statement("PRAGMA journal_mode = WAL", connection: connection)
        defer { statement.reset() }
        guard try statement.step(), statement.row()[0] == .text("wal") else {
          throw .other(code: SQLITE_ERROR, extendedCode: SQLITE_ERROR)
        }
        return
      } catch {
        guard case .busy = error, ContinuousClock.now - start < .milliseconds(busyTimeoutMilliseconds) else {
          throw error
        }
        usleep(5_000)
      }
    }
  }

  private static func execute(_ script: String, on connection: OpaquePointer) throws(SQLiteFailure) {
    switch unsafe sqlite3_exec(connection, script, nil, nil, nil) {
    case SQLITE_OK: return
    case SQLITE_ERROR:
      throw unsafe .invalidStatement(message: String(cString: sqlite3_errmsg(connection)))
    default: throw unsafe failure(of: connection)
    }
  }
}
