import CSQLite
import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A connection to an SQLite database, closed with its last reference.
///
/// Every commit is on the disk before the call returns (`WAL`, `synchronous=FULL`). Deleted content is overwritten
/// (`secure_delete`). The schema in the file is not trusted, and triggers and views in it are disabled.
@safe final class SQLiteSession: SQLSession {
  let dialect = SQLDialect.sqlite
  let lane: Int64 = 0
  private let connection: OpaquePointer
  private var statements: [StatementText: SQLiteStatement] = [:]
  /// The access of the last transaction.
  private var allowed = SQLAccess.write
  private static let statementLimit = 256
  /// The limit for one value, so that a damaged file cannot make this process allocate SQLite's maximum of 1 GB: 64 MiB.
  private static let maximumValueByteCount: Int32 = 64 << 20

  /// Opens a file, created with mode 0600 if it is missing, or a database in memory.
  ///
  /// The corresponding C function is `sqlite3_open_v2`; a path that is a symbolic link is rejected.
  init(path: String?, _ busyTimeoutMilliseconds: Int) throws(SQLFailure) {
    if let path { try Self.makeFile(path) }
    var opened: OpaquePointer?
    let code = unsafe sqlite3_open_v2(
      path ?? ":memory:", &opened,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE, nil)
    guard let connection = unsafe opened else { throw .other(code: "SQLite \(SQLITE_NOMEM)") }
    do throws(SQLFailure) {
      guard code == SQLITE_OK else { throw unsafe SQLFailure(of: connection) }
      // If SQLite may not write, it silently opens the file for reading, and only the first change would fail.
      guard unsafe sqlite3_db_readonly(connection, "main") == 0 else { throw .readOnly }
      try unsafe Self.configure(connection, busyTimeoutMilliseconds)
      if path != nil { try unsafe Self.enterWAL(connection, busyTimeoutMilliseconds) }
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

  func run(_ sql: String, _ values: [SQLValue], _ body: (SQLRow) throws -> Void) throws -> Int {
    let statement = try acquire(sql)
    defer { release(statement) }
    try statement.bind(values)
    while try statement.step() { try body(statement.row()) }
    return statement.isReadOnly ? 0 : Int(unsafe sqlite3_changes64(connection))
  }

  /// Counts all changes, including this connection's; it is compared after a commit and inside of the next writing transaction.
  ///
  /// Changes of others are counted when this connection first accesses the file: `BEGIN IMMEDIATE` does so, `BEGIN` alone does not.
  ///
  /// See `SQLITE_FCNTL_DATA_VERSION` in <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html>.
  var version: UInt32? {
    var version: UInt32 = 0
    guard unsafe sqlite3_file_control(connection, "main", SQLITE_FCNTL_DATA_VERSION, &version) == SQLITE_OK
    else { return nil }
    return version
  }

  func define(_ sql: String) throws { try unsafe Self.execute(sql, on: connection) }

  // `BEGIN`, `COMMIT` and the like are compiled once, too.
  func begin(_ access: SQLAccess, alone _: Bool) throws {
    if access != allowed {
      try define("PRAGMA query_only = \(access == .read ? "ON" : "OFF")")
      allowed = access
    }
    _ = try run(access == .read ? "BEGIN" : "BEGIN IMMEDIATE", []) { _ in }
  }
  func commit() throws { _ = try run("COMMIT", []) { _ in } }
  func savepoint() throws { _ = try run("SAVEPOINT step", []) { _ in } }
  func releaseSavepoint() throws { _ = try run("RELEASE step", []) { _ in } }
  func rollBackToSavepoint() throws {
    _ = try run("ROLLBACK TO step", []) { _ in }
    _ = try run("RELEASE step", []) { _ in }
  }

  func rollBack() {
    guard unsafe sqlite3_get_autocommit(connection) == 0 else { return }
    // It fails only if SQLite has rolled back already, or will do so when the file is next opened.
    do { _ = try run("ROLLBACK", []) { _ in } } catch {}
  }

  /// Returns the compiled statement; if it is running already, a nested use of the same SQL gets another one.
  private func acquire(_ sql: String) throws(SQLFailure) -> SQLiteStatement {
    let text = StatementText(sql: sql)
    let cached = statements[text]
    if let cached, !cached.isRunning {
      cached.isRunning = true
      return cached
    }
    let statement = try unsafe SQLiteStatement(sql, connection)
    if cached == nil {
      if statements.count >= Self.statementLimit { statements.removeAll(keepingCapacity: true) }
      statements[text] = statement
    }
    statement.isRunning = true
    return statement
  }

  private func release(_ statement: SQLiteStatement) {
    statement.reset()
    statement.isRunning = false
  }

  /// Creates an empty file that only its owner can read and write, unless there is a file already.
  ///
  /// SQLite would create it with mode 0644 under the usual umask, and gives `-wal` and `-shm` the mode of the main file. The
  /// file gets its name only after it was closed. Otherwise, closing its descriptor could release the POSIX locks that
  /// another connection holds on it by then.
  private static func makeFile(_ path: String) throws(SQLFailure) {
    if unsafe access(path, F_OK) == 0 { return }
    do throws(FileFailure) { try PrivateFile.place(RawSpan(), at: path, .keeping) } catch {
      throw SQLFailure(extended: SQLITE_CANTOPEN, systemError: error.code, message: "")
    }
  }

  /// Applies the settings of every connection.
  ///
  /// See <https://www.sqlite.org/pragma.html> and, for hostile files, <https://www.sqlite.org/security.html>.
  private static func configure(
    _ connection: OpaquePointer, _ busyTimeoutMilliseconds: Int
  ) throws(SQLFailure) {
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
        throw unsafe SQLFailure(of: connection)
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
  }

  /// Makes calls wait for other connections, with a retry every 2 ms.
  ///
  /// `sqlite3_busy_timeout` increases its pauses up to 100 ms. Under steady load, the connection that has waited longest
  /// would then have the least chance to find the lock free.
  private static func waitWhenBusy(
    _ connection: OpaquePointer, _ busyTimeoutMilliseconds: Int
  ) throws(SQLFailure) {
    let rounds = unsafe UnsafeMutableRawPointer(bitPattern: max(busyTimeoutMilliseconds, 0) / 2)
    let code = unsafe sqlite3_busy_handler(
      connection,
      { rounds, count in
        guard Int(count) < Int(bitPattern: rounds) else { return 0 }
        usleep(2_000)
        return 1
      }, rounds)
    guard code == SQLITE_OK else { throw unsafe SQLFailure(of: connection) }
  }

  /// Switches the file to write-ahead logging.
  ///
  /// For a new file this needs an exclusive lock, for which SQLite does not call the busy handler. Processes that open a new
  /// file at the same time would fail, so this waits as the handler would.
  private static func enterWAL(
    _ connection: OpaquePointer, _ busyTimeoutMilliseconds: Int
  ) throws(SQLFailure) {
    let start = ContinuousClock.now
    while true {
      do throws(SQLFailure) {
        let statement = try unsafe SQLiteStatement("PRAGMA journal_mode = WAL", connection)
        defer { statement.reset() }
        guard try statement.step(), statement.row()[0] == .text("wal") else {
          throw .other(code: "SQLite \(SQLITE_ERROR)")
        }
        return
      } catch {
        guard error == .busy, ContinuousClock.now - start < .milliseconds(busyTimeoutMilliseconds) else {
          throw error
        }
        usleep(5_000)
      }
    }
  }

  private static func execute(_ script: String, on connection: OpaquePointer) throws(SQLFailure) {
    guard unsafe sqlite3_exec(connection, script, nil, nil, nil) == SQLITE_OK else {
      throw unsafe SQLFailure(of: connection)
    }
  }
}

/// The text of a statement, hashed by its length alone: few statements share a length, and hashing some hundred bytes for
/// each run takes as long as binding the values.
private struct StatementText: Hashable {
  let sql: String

  func hash(into hasher: inout Hasher) { hasher.combine(sql.utf8.count) }
}
