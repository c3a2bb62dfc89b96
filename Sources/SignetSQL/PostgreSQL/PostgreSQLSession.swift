import CPostgreSQL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A connection to a PostgreSQL server, closed with its last reference.
///
/// Parameters and results are binary; the server reports the type of each parameter when a statement is prepared.
@safe final class PostgreSQLSession: SQLSession {
  /// The oldest supported server, in the format of `PQserverVersion`.
  static let oldestVersion: Int32 = 130_000
  private static let statementLimit = 256

  let dialect = SQLDialect.postgreSQL
  /// 0 until ``claimLane()``.
  private(set) var lane: Int64 = 0
  let version: UInt32? = nil
  private let connection: OpaquePointer
  private let busyTimeoutMilliseconds: Int
  private var statements: [String: Prepared] = [:]
  private var statementCount = 0

  private struct Prepared {
    let name: String
    let types: [Oid]
  }

  /// Connects.
  ///
  /// The corresponding C function is `PQconnectdbParams`; libpq's files, services and environment variables apply.
  init(
    _ address: String, _ busyTimeoutMilliseconds: Int, connectTimeoutSeconds: Int = 10
  ) throws(SQLFailure) {
    try Self.check(address)
    // Settings before `dbname` are defaults that the address overrides; those after it override the address.
    let settings = [
      ("connect_timeout", String(connectTimeoutSeconds)), ("fallback_application_name", "signet"),
      ("tcp_user_timeout", "15000"),
      ("dbname", address), ("client_encoding", "UTF8"),
    ]
    let opened = unsafe withCStrings(settings.map(\.0)) { names in
      unsafe withCStrings(settings.map(\.1)) { values in
        unsafe PQconnectdbParams(names, values, 1)
      }
    }
    guard let connection = unsafe opened else { throw .other(code: "libpq: no memory") }
    do throws(SQLFailure) {
      guard unsafe PQstatus(connection) == CONNECTION_OK else {
        throw .unreachable(reason: unsafe Self.reason(connection))
      }
      unsafe signet_pq_drop_notices(connection)
      guard unsafe PQserverVersion(connection) >= Self.oldestVersion else {
        let version = unsafe PQparameterStatus(connection, "server_version").map {
          unsafe String(cString: $0)
        }
        throw .otherServer(version: version ?? "unknown")
      }
    } catch {
      unsafe PQfinish(connection)
      throw error
    }
    unsafe self.connection = connection
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    // A step does not wait between its statements. If it is idle for 3 seconds, its process was stopped, and its locks must
    // be released.
    try simple(
      """
      SET lock_timeout = \(busyTimeoutMilliseconds); SET statement_timeout = 0;
      SET idle_in_transaction_session_timeout = 3000
      """)
  }

  deinit { unsafe PQfinish(connection) }

  /// Rejects a malformed address, or one that a password splits in the wrong place, without quoting it: libpq's messages
  /// contain such parts.
  private static func check(_ address: String) throws(SQLFailure) {
    let form = SQLFailure.unreadableAddress(.form(hasUser: address.contains("@")))
    guard let options = unsafe PQconninfoParse(address, nil) else { throw form }
    defer { unsafe PQconninfoFree(options) }
    var option = unsafe options
    while let keyword = unsafe option.pointee.keyword {
      if let value = unsafe option.pointee.val {
        let text = unsafe String(cString: value)
        switch unsafe String(cString: keyword) {
        case "host", "dbname": if text.contains("@") { throw form }
        case "port":
          // A port that is not a number may be a part of a password.
          if address.contains("@"), !text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2C }) {
            throw form
          }
          // One port for each host, or none.
          guard text.split(separator: ",").allSatisfy({ (1...65_535).contains(Int($0) ?? 0) }) else {
            throw .unreadableAddress(.port)
          }
        case "sslmode":
          guard SQLFailure.AddressFault.sslModes.contains(text) else { throw .unreadableAddress(.sslMode) }
        default: break
        }
      }
      unsafe option += 1
    }
  }

  /// Claims the first lane that no other connection to this database has, until the connection ends.
  func claimLane() throws {
    for lane in Int64(0)..<4_096 {
      var isLocked = false
      // Session-level advisory locks in a class reserved for lanes ("SGNT" as a number).
      _ = try run("SELECT pg_try_advisory_lock(1397182036, $1)", [.integer(lane)]) {
        isLocked = try $0.bool(0)
      }
      guard isLocked else { continue }
      self.lane = lane
      return
    }
    throw SQLFailure.busy
  }

  /// Indicates whether the connection is usable, as far as the client side knows.
  var isAlive: Bool { unsafe PQstatus(connection) == CONNECTION_OK }

  func run(_ sql: String, _ values: [SQLValue], _ body: (SQLRow) throws -> Void) throws -> Int {
    let prepared = try statement(sql)
    precondition(
      values.count == prepared.types.count,
      "the statement has \(prepared.types.count) parameters and \(values.count) values: \(sql)")
    let parameters = try PostgreSQLParameters(values, prepared.types)
    let result = unsafe PostgreSQLResult(
      parameters.withPointers { pointers, lengths, formats in
        unsafe PQexecPrepared(
          connection, prepared.name, Int32(values.count), pointers, lengths, formats, 1)
      })
    try check(result)
    for index in 0..<result.rowCount { try body(result.row(index)) }
    return result.changedRowCount
  }

  func define(_ sql: String) throws { try simple(sql) }

  func begin(_ access: SQLAccess, alone isAlone: Bool) throws {
    // Writing transactions lock a table in a mode that permits each other; one that must be alone locks it in a mode that
    // excludes them. No query has run before the lock, so the step sees everything that ended before
    // (<https://www.postgresql.org/docs/current/sql-lock.html>). A stopped process delays the others by one second at most.
    let table = SQLSchema.versions.name
    let sql =
      switch (access, isAlone) {
      case (.read, _): "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY"
      case (.define, _): "BEGIN ISOLATION LEVEL SERIALIZABLE"
      case (.write, false): "BEGIN ISOLATION LEVEL SERIALIZABLE; LOCK TABLE \(table) IN ROW EXCLUSIVE MODE"
      case (.write, true):
        """
        BEGIN ISOLATION LEVEL SERIALIZABLE; SET LOCAL lock_timeout = 1000;
        LOCK TABLE \(table) IN SHARE ROW EXCLUSIVE MODE; SET LOCAL lock_timeout = \(busyTimeoutMilliseconds)
        """
      }
    let result = unsafe PostgreSQLResult(PQexec(connection, sql))
    // A standby rejects serializable transactions, even read-only ones.
    guard !result.isUnsupported else { throw SQLFailure.readOnly }
    try check(result)
  }

  func commit() throws {
    try requireOpen()
    let result = unsafe PostgreSQLResult(PQexec(connection, "COMMIT"))
    guard isAlive || result.isEndedIdle else { throw SQLFailure.outcomeUnknown }
    try check(result)
    guard result.command == "COMMIT" else { throw SQLFailure.stepFailed }
  }

  /// Reads what the server wrote while no statement was running: the reason why it ended the session, which has committed nothing.
  ///
  /// It is read before `COMMIT` is sent, because the outcome is unknown after a failed write. The end of the connection follows the
  /// reason at once.
  private func requireOpen() throws(SQLFailure) {
    var descriptor = pollfd(fd: unsafe PQsocket(connection), events: Int16(POLLIN), revents: 0)
    for milliseconds: Int32 in [0, 100, 100, 100] {
      guard unsafe poll(&descriptor, 1, milliseconds) > 0 else { return }
      guard unsafe PQconsumeInput(connection) == 1 else {
        throw .unreachable(reason: unsafe Self.reason(connection))
      }
    }
  }

  func rollBack() {
    guard isAlive, unsafe PQtransactionStatus(connection) != PQTRANS_IDLE else { return }
    // If it fails, the connection is broken, which the next use detects.
    _ = unsafe PostgreSQLResult(PQexec(connection, "ROLLBACK"))
  }

  // A step on a server is the only one in its transaction.
  func savepoint() throws { try simple("SAVEPOINT step") }
  func releaseSavepoint() throws { try simple("RELEASE SAVEPOINT step") }
  func rollBackToSavepoint() throws { try simple("ROLLBACK TO SAVEPOINT step") }

  private func simple(_ sql: String) throws(SQLFailure) {
    try check(unsafe PostgreSQLResult(PQexec(connection, sql)))
  }

  private func statement(_ sql: String) throws(SQLFailure) -> Prepared {
    if let prepared = statements[sql] { return prepared }
    if statements.count >= Self.statementLimit {
      try simple("DEALLOCATE ALL")
      statements.removeAll(keepingCapacity: true)
    }
    statementCount += 1
    let name = "s\(statementCount)"
    try check(unsafe PostgreSQLResult(PQprepare(connection, name, sql, 0, nil)))
    let description = unsafe PostgreSQLResult(PQdescribePrepared(connection, name))
    try check(description)
    let prepared = Prepared(name: name, types: description.parameterTypes)
    statements[sql] = prepared
    return prepared
  }

  private func check(_ result: PostgreSQLResult) throws(SQLFailure) {
    if result.isSuccess { return }
    guard isAlive else { throw .unreachable(reason: unsafe Self.reason(connection)) }
    throw result.failure
  }

  /// The error message of libpq for the connection, on one line.
  private static func reason(_ connection: OpaquePointer) -> String {
    let message = unsafe PQerrorMessage(connection).map { unsafe String(cString: $0) } ?? ""
    return message.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }.joined(
      separator: "; ")
  }
}

/// Passes texts as an array of C strings that ends with a null pointer.
private func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
  var bytes: [CChar] = []
  var starts: [Int] = []
  for text in texts {
    starts.append(bytes.count)
    bytes += text.utf8.map { CChar(bitPattern: $0) } + [0]
  }
  return unsafe bytes.withUnsafeBufferPointer { bytes in
    let pointers = unsafe starts.map { start in unsafe bytes.baseAddress.map { unsafe $0 + start } } + [nil]
    return unsafe pointers.withUnsafeBufferPointer { pointers in
      guard let base = pointers.baseAddress else {
        preconditionFailure("an array with an element has an address")
      }
      return unsafe body(base)
    }
  }
}
