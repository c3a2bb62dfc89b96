/// A connection to a database, within a step: it may be used only on the step's thread, and not after the step.
///
/// Statements use the common subset of SQLite and PostgreSQL, with parameters `$1`, `$2`…. After a failed statement the step
/// can only end, because PostgreSQL rejects further statements; SQLite is treated alike. For failures that are expected, use
/// a conditional write (`ON CONFLICT DO NOTHING`, `UPDATE … WHERE state = 'open'`) and check its count of changed rows.
public final class SQLConnection {
  let session: any SQLSession
  private let observer: SQLObserver?
  /// The failure of the first statement that failed in this step.
  @usableFromInline private(set) var failure: SQLFailure?
  /// The cached values; only a few, so a linear search is cheaper than hashing.
  @usableFromInline var locals: [(key: ObjectIdentifier, isRetained: Bool, box: AnyObject)] = []
  /// The version of the database after the last transaction of this connection; `nil` if it is unknown.
  private var lastVersion: UInt32?

  init(_ session: any SQLSession, _ observer: SQLObserver?) {
    self.session = session
    self.observer = observer
  }

  /// The dialect of this database; only DDL depends on it.
  public var dialect: SQLDialect { session.dialect }

  /// A small number that no other writing connection has at the same time: always 0 in SQLite, which has one writer at a time.
  ///
  /// Each lane numbers its rows itself, so steps need not wait for each other, and the rows of one lane become visible in order.
  public var lane: Int64 { session.lane }

  /// Returns the lanes that have rows in a table that is numbered by lane, in order.
  ///
  /// - Throws: ``SQLFailure``.
  public func lanes(of table: String) throws -> [Int64] {
    if dialect == .sqlite { return try rows("SELECT lane FROM \(table) LIMIT 1") { try $0.integer(0) } }
    // Jumps from lane to lane by the key, instead of a scan of all rows.
    let next = "SELECT lane FROM \(table) WHERE lane > $1 ORDER BY lane LIMIT 1"
    var found: [Int64] = []
    while let lane = try row(next, [.integer(found.last ?? -1)], { try $0.integer(0) }) { found.append(lane) }
    return found
  }

  /// Returns all rows of a query, each decoded by index.
  ///
  /// - Throws: ``SQLFailure``, and the errors of `decode`.
  @inlinable public func rows<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ decode: (SQLRow) throws -> Value
  ) throws -> [Value] {
    var result: [Value] = []
    _ = try run(sql, values) { result.append(try decode($0)) }
    return result
  }

  /// Returns the only row of a query; `nil` for none.
  ///
  /// - Throws: ``SQLFailure``, ``SQLFailure/unexpectedChange(expected:found:)`` for several rows, and the errors of `decode`.
  @inlinable public func row<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ decode: (SQLRow) throws -> Value
  ) throws -> Value? {
    var result: Value?
    var count = 0
    _ = try run(sql, values) { row in
      count += 1
      if count == 1 { result = try decode(row) }
    }
    guard count <= 1 else { throw fail(.unexpectedChange(expected: 1, found: count)) }
    return result
  }

  /// Reads as ``row(_:_:_:)`` does, and locks the row against changes by others until the step has ended.
  ///
  /// - Throws: ``SQLFailure``, and the errors of `decode`.
  public func lockedRow<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ decode: (SQLRow) throws -> Value
  ) throws -> Value? {
    try row(sql + dialect.lockingClause, values, decode)
  }

  /// Changes rows; the count shows if the condition of the change held.
  ///
  /// - Returns: The number of rows that were inserted, updated or deleted.
  /// - Throws: ``SQLFailure``.
  public func execute(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
    try run(sql, values) { _ in }
  }

  /// Changes an expected number of rows; with any other number the step fails.
  ///
  /// - Throws: ``SQLFailure``, ``SQLFailure/unexpectedChange(expected:found:)``.
  public func execute(_ sql: String, _ values: [SQLValue] = [], changing expected: Int) throws {
    let found = try run(sql, values) { _ in }
    guard found == expected else { throw fail(.unexpectedChange(expected: expected, found: found)) }
  }

  /// Returns a cached value of this transaction, or of an earlier one if the value is kept; otherwise calls `load` and
  /// caches its result.
  ///
  /// - Throws: The errors of `load`.
  @inlinable public func local<Value>(_ key: TransactionLocal<Value>, load: () throws -> Value) throws
    -> Value
  {
    if let box = locals.first(where: { $0.key == key.id })?.box as? LocalBox<Value> { return box.value }
    let value = try load()
    setLocal(key, to: value)
    return value
  }

  /// Sets the value that ``local(_:load:)`` returns until it is cleared: at the end of the transaction, or later if it is kept.
  ///
  /// Any rollback clears it.
  @inlinable public func setLocal<Value>(_ key: TransactionLocal<Value>, to value: Value) {
    if let box = locals.first(where: { $0.key == key.id })?.box as? LocalBox<Value> {
      box.value = value
    } else {
      locals.append((key.id, key.isRetained, LocalBox(value, of: key)))
    }
  }

  /// Clears all values of ``local(_:load:)``, kept or not: for a step that depends on other premises than those before it.
  @inlinable public func forgetLocals() { locals.removeAll(keepingCapacity: true) }

  /// Runs a statement of the schema, which has no values and is not cached.
  func define(_ sql: String) throws { try guarded(sql) { try session.define(sql) } }

  @usableFromInline func run(
    _ sql: String, _ values: [SQLValue], _ body: (SQLRow) throws -> Void
  ) throws -> Int {
    try guarded(sql) { try session.run(sql, values, body) }
  }

  private func guarded<Value>(_ sql: String, _ body: () throws -> Value) throws -> Value {
    guard failure == nil else { throw SQLFailure.stepFailed }
    do {
      try observer?.willExecute(sql)
      return try body()
    } catch let error as SQLFailure { throw fail(error) }
  }

  @usableFromInline func fail(_ error: SQLFailure) -> SQLFailure {
    if failure == nil { failure = error }
    return error
  }
}

// Transactions, for the engines that run steps.
extension SQLConnection {
  /// Runs `body` in a transaction: committed and durable when this returns, rolled back if anything throws.
  ///
  /// - Parameters:
  ///   - access: The access of the transaction.
  ///   - isAlone: True if no other writing transaction may run at the same time; only some databases need this.
  ///   - body: The step.
  /// - Returns: The value of `body`.
  /// - Throws: ``SQLFailure``, and the errors of `body`.
  func transact<Value>(
    _ access: SQLAccess, alone isAlone: Bool = false, _ body: () throws -> Value
  ) throws -> Value {
    do {
      forget()
      try observer?.willExecute("BEGIN")
      try session.begin(access, alone: isAlone)
      // A read-only transaction may begin before it has a snapshot; the version is then that of the previous one.
      if access == .read || lastVersion == nil || session.version != lastVersion { locals = [] }
      lastVersion = nil
      let value = try body()
      guard failure == nil else { throw SQLFailure.stepFailed }
      try observer?.willExecute("COMMIT")
      try session.commit()
      forget()
      lastVersion = session.version
      try observer?.didCommit()
      return value
    } catch {
      // A conflict is retried even if the body replaced it by its own error.
      let cause = failure == .conflict ? SQLFailure.conflict : error
      forgetAll()
      session.rollBack()
      throw cause
    }
  }

  /// Runs one of several changes that share a commit; a failed change rolls back only itself.
  func savepoint(_ body: () -> (any Error)?) throws -> (any Error)? {
    try session.savepoint()
    let cause = body()
    guard let cause else {
      try session.releaseSavepoint()
      return nil
    }
    forgetAll()
    // If the database has ended the whole transaction, there is no savepoint any more, and the cause ends all changes.
    do { try session.rollBackToSavepoint() } catch { throw cause }
    return cause
  }

  private func forget() {
    failure = nil
    locals.removeAll { !$0.isRetained }
  }

  private func forgetAll() {
    failure = nil
    forgetLocals()
  }
}

/// The key of a value that is cached for a transaction, or kept for later ones; see ``SQLConnection/local(_:load:)``.
public final class TransactionLocal<Value: Sendable>: Sendable {
  @usableFromInline var id: ObjectIdentifier { ObjectIdentifier(self) }
  @usableFromInline let isRetained: Bool

  /// Makes a unique key.
  ///
  /// - Parameter isRetained: True if the value is kept for later writing transactions of the connection, until another connection has
  ///   changed the database, or until a rollback. A step that changes the source of the value has to set the value. A read-only
  ///   transaction begins without it. If a database does not report changes by others, each transaction begins without it.
  public init(isRetained: Bool = false) { self.isRetained = isRetained }
}

/// A box for a cached value: a cast to a class costs far less than one out of an existential.
@usableFromInline final class LocalBox<Value: Sendable> {
  @usableFromInline var value: Value
  /// Retained, because a new key at the address of a freed one would find this value.
  private let key: TransactionLocal<Value>

  @usableFromInline init(_ value: Value, of key: TransactionLocal<Value>) {
    self.value = value
    self.key = key
  }
}

/// The access of a step.
@usableFromInline enum SQLAccess: Sendable {
  /// Reads, from one consistent state.
  case read
  /// Reads and writes.
  case write
  /// Changes the tables themselves.
  case define
}

/// A seam with which tests observe, delay or interrupt a step between any two statements.
package struct SQLObserver: Sendable {
  /// Called on the connection's thread with each statement before it runs, including `BEGIN` and `COMMIT`.
  package var willExecute: @Sendable (_ sql: String) throws -> Void
  /// Called once a commit is durable, before any completion is settled.
  package var didCommit: @Sendable () throws -> Void

  /// Makes an observer.
  package init(
    willExecute: @escaping @Sendable (_ sql: String) throws -> Void = { _ in },
    didCommit: @escaping @Sendable () throws -> Void = {}
  ) {
    self.willExecute = willExecute
    self.didCommit = didCommit
  }
}

/// The database-specific part of a connection, used on the connection's thread.
protocol SQLSession: AnyObject {
  var dialect: SQLDialect { get }
  var lane: Int64 { get }
  /// A number that changes when another connection's transaction has changed the database, as seen in a writing transaction;
  /// `nil` if unknown.
  var version: UInt32? { get }
  /// Runs a statement, which is compiled once, and returns the number of rows that it changed.
  func run(_ sql: String, _ values: [SQLValue], _ body: (SQLRow) throws -> Void) throws -> Int
  func define(_ sql: String) throws
  func begin(_ access: SQLAccess, alone isAlone: Bool) throws
  func commit() throws
  /// Ends the transaction, if one is open.
  func rollBack()
  func savepoint() throws
  func releaseSavepoint() throws
  func rollBackToSavepoint() throws
}
