/// A connection to a database, inside of a step: it is used on the step's thread, and not after the step.
///
/// Statements are in the common subset of SQLite and PostgreSQL, with parameters `$1`, `$2`…. After a statement has failed the step can
/// only end: PostgreSQL goes on with nothing else, and SQLite is treated alike. What may fail in the usual course is a conditional
/// write (`ON CONFLICT DO NOTHING`, `UPDATE … WHERE state = 'open'`) that is judged by its count of changed rows.
public final class SQLConnection {
  let session: any SQLSession
  private let observer: SQLObserver?
  /// The failure of the first statement that failed in this step.
  @usableFromInline private(set) var failure: SQLFailure?
  /// A handful, so that looking at each costs less than hashing.
  @usableFromInline var locals: [(key: ObjectIdentifier, isKept: Bool, box: AnyObject)] = []
  /// The state of the database that the last transaction here has left, or seen; `nil` where it is not known.
  private var lastVersion: UInt32?

  init(_ session: any SQLSession, _ observer: SQLObserver?) {
    self.session = session
    self.observer = observer
  }

  /// The language of this database; only DDL needs to know.
  public var dialect: SQLDialect { session.dialect }

  /// A small number that no other connection which writes has at the same time: 0 in SQLite, where one writes after the other.
  ///
  /// Rows that each lane numbers for itself are numbered without a step waiting for another one, and those of one lane become visible
  /// in their order.
  public var lane: Int64 { session.lane }

  /// The lanes that have rows in a table that is numbered by lane, in order.
  ///
  /// - Throws: ``SQLFailure``.
  public func lanes(of table: String) throws -> [Int64] {
    if dialect == .sqlite { return try rows("SELECT lane FROM \(table) LIMIT 1") { try $0.integer(0) } }
    // A jump from lane to lane by the key, in place of a look at all rows.
    let next = "SELECT lane FROM \(table) WHERE lane > $1 ORDER BY lane LIMIT 1"
    var found: [Int64] = []
    while let lane = try row(next, [.integer(found.last ?? -1)], { try $0.integer(0) }) { found.append(lane) }
    return found
  }

  /// All rows of a query, each decoded by index.
  ///
  /// - Throws: ``SQLFailure``, and what `decode` throws.
  @inlinable public func rows<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ decode: (SQLRow) throws -> Value
  ) throws -> [Value] {
    var result: [Value] = []
    _ = try run(sql, values) { result.append(try decode($0)) }
    return result
  }

  /// The only row of a query, or `nil` where there is none.
  ///
  /// - Throws: ``SQLFailure``, ``SQLFailure/unexpectedChange(expected:found:)`` for several rows, and what `decode` throws.
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

  /// Reads as ``row(_:_:_:)`` does, and keeps the row from being changed by others until the step has ended.
  ///
  /// - Throws: ``SQLFailure``, and what `decode` throws.
  public func lockedRow<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ decode: (SQLRow) throws -> Value
  ) throws -> Value? {
    try row(sql + dialect.lockingClause, values, decode)
  }

  /// Changes rows; the count says whether the condition of the change held.
  ///
  /// - Returns: How many rows were inserted, updated or deleted.
  /// - Throws: ``SQLFailure``.
  public func execute(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
    try run(sql, values) { _ in }
  }

  /// Changes a number of rows that is known; otherwise the step fails.
  ///
  /// - Throws: ``SQLFailure``, ``SQLFailure/unexpectedChange(expected:found:)``.
  public func execute(_ sql: String, _ values: [SQLValue] = [], changing expected: Int) throws {
    let found = try run(sql, values) { _ in }
    guard found == expected else { throw fail(.unexpectedChange(expected: expected, found: found)) }
  }

  /// What `load` returned in this transaction, or in an earlier one where the value is kept: read once, though several steps ask for it.
  ///
  /// - Throws: What `load` throws.
  @inlinable public func local<Value>(_ key: TransactionLocal<Value>, load: () throws -> Value) throws
    -> Value
  {
    if let box = locals.first(where: { $0.key == key.id })?.box as? LocalBox<Value> { return box.value }
    let value = try load()
    setLocal(key, to: value)
    return value
  }

  /// Sets what ``local(_:load:)`` returns until the value is forgotten: with the transaction, or later where it is kept.
  ///
  /// Undoing anything forgets it in each case.
  @inlinable public func setLocal<Value>(_ key: TransactionLocal<Value>, to value: Value) {
    if let box = locals.first(where: { $0.key == key.id })?.box as? LocalBox<Value> {
      box.value = value
    } else {
      locals.append((key.id, key.isKept, LocalBox(value, of: key)))
    }
  }

  /// Forgets all that ``local(_:load:)`` returned so far, kept or not: for a step that rests on something else than those before it.
  @inlinable public func forgetLocals() { locals.removeAll(keepingCapacity: true) }

  /// Runs a statement of the schema, which has no values and is not kept.
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

// Transactions: for those that run steps.
extension SQLConnection {
  /// Runs `body` in a transaction: committed and durable when this returns, undone if anything throws.
  ///
  /// - Parameters:
  ///   - access: Whether it may change anything.
  ///   - isAlone: Whether no other transaction that writes may be under way meanwhile, as far as the database needs to be told.
  ///   - body: What runs.
  /// - Returns: What `body` returns.
  /// - Throws: ``SQLFailure``, and what `body` throws.
  func transact<Value>(
    _ access: SQLAccess, alone isAlone: Bool = false, _ body: () throws -> Value
  ) throws -> Value {
    do {
      forget()
      try observer?.willExecute("BEGIN")
      try session.begin(access, alone: isAlone)
      // A transaction that only reads may begin before it has a state to read, and the version is that of the last one then.
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
      // A body that turned the failure of a statement into one of its own is run again all the same.
      let cause = failure == .conflict ? SQLFailure.conflict : error
      forgetAll()
      session.rollBack()
      throw cause
    }
  }

  /// Runs one of several changes that share a commit; one that fails undoes only itself.
  func savepoint(_ body: () -> (any Error)?) throws -> (any Error)? {
    try session.savepoint()
    let cause = body()
    guard let cause else {
      try session.releaseSavepoint()
      return nil
    }
    forgetAll()
    // Where the database has ended the whole transaction there is no savepoint any more, and the cause ends all changes.
    do { try session.rollBackToSavepoint() } catch { throw cause }
    return cause
  }

  private func forget() {
    failure = nil
    locals.removeAll { !$0.isKept }
  }

  private func forgetAll() {
    failure = nil
    forgetLocals()
  }
}

/// Names a value that is read once in a transaction, or kept for later ones; see ``SQLConnection/local(_:load:)``.
public final class TransactionLocal<Value: Sendable>: Sendable {
  @usableFromInline var id: ObjectIdentifier { ObjectIdentifier(self) }
  @usableFromInline let isKept: Bool

  /// A name of its own.
  ///
  /// - Parameter isKept: Whether the value stays for later transactions of the connection that write, until another connection has
  ///   changed the database, or anything is undone. A step that changes what it was read from sets it anew. A transaction that only reads
  ///   begins without it, and where a database does not say whether others have changed it, each transaction does.
  public init(isKept: Bool = false) { self.isKept = isKept }
}

/// Holds a value of a transaction: a cast to a class costs far less than one out of an existential.
@usableFromInline final class LocalBox<Value: Sendable> {
  @usableFromInline var value: Value
  /// Held, since a name that came to lie where this one was would find this value.
  private let key: TransactionLocal<Value>

  @usableFromInline init(_ value: Value, of key: TransactionLocal<Value>) {
    self.value = value
    self.key = key
  }
}

/// Whether a step may change anything.
@usableFromInline enum SQLAccess: Sendable {
  /// It reads, from one state that nobody changes meanwhile.
  case read
  /// It reads and changes.
  case write
  /// It changes the tables themselves.
  case define
}

/// A seam through which tests look at, delay or break off a step between any two statements.
package struct SQLObserver: Sendable {
  /// Called on the connection's thread with each statement before it runs, `BEGIN` and `COMMIT` among them.
  package var willExecute: @Sendable (_ sql: String) throws -> Void
  /// Called once a commit is durable, before anybody hears of it.
  package var didCommit: @Sendable () throws -> Void

  /// An observer.
  package init(
    willExecute: @escaping @Sendable (_ sql: String) throws -> Void = { _ in },
    didCommit: @escaping @Sendable () throws -> Void = {}
  ) {
    self.willExecute = willExecute
    self.didCommit = didCommit
  }
}

/// What a database does for a connection, on the connection's thread.
protocol SQLSession: AnyObject {
  var dialect: SQLDialect { get }
  var lane: Int64 { get }
  /// A number that is another one once a transaction of another connection has changed the database, as this connection's
  /// transaction that writes sees it; `nil` where that is not told.
  var version: UInt32? { get }
  /// Runs a statement, which is compiled once, and returns how many rows it changed.
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
