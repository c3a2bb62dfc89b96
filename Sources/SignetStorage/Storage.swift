package import SignetCrypto
package import SignetSQL
import SignetSQLite
import SignetSystem

/// The server's durable state, in SQLite or in PostgreSQL.
///
/// Every method is one atomic step and is durable when it returns. Steps are serializable: a step reads the rows, a rule (the folder
/// `Rules`) decides from their values, and the step writes the result as if no other step ran meanwhile. So only one of several
/// concurrent callers wins (a one-time code, an invite, a decision), across tasks, processes and machines on one database. A step
/// that conflicts with another one is retried. A method that takes an ``AuditRecord`` writes it in the same step as the change.
///
/// Times are whole seconds since 1970 by the caller's clock: storage has no clock. `StorageContract` in
/// `SignetServerTesting` tests this contract on both databases.
package final class Storage: Sendable {
  private let database: SQLDatabase
  private let readiness: any ReadinessProbe
  private let basis: StepBasis
  private let faults: StepFaults?

  var mac: RowMAC { basis.mac }

  /// Opens a database and migrates its schema to the current version; it blocks.
  ///
  /// - Parameters:
  ///   - location: A file, created with mode 0600 if it is missing, whose folder must exist; or a server.
  ///   - expectation: The content that the database must have.
  ///   - busyTimeoutMilliseconds: The time that a call waits for other processes before it fails with ``StorageFailure/busy``.
  /// - Throws: ``StorageFailure``.
  package convenience init(
    _ location: StorageLocation, expecting expectation: StorageExpectation = .any,
    busyTimeoutMilliseconds: Int = 10_000
  ) throws(StorageFailure) {
    var options = SQLOptions()
    options.expectation =
      switch expectation {
      case .any: .any
      case .nothing: .nothing
      case .tables: .tables
      }
    options.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    try self.init(location, options: options)
  }

  /// Opens a database as ``init(_:busyTimeoutMilliseconds:)`` does, with options for tests.
  package init(_ location: StorageLocation, options: SQLOptions) throws(StorageFailure) {
    var options = options
    let sqlLocation: SQLLocation =
      switch location {
      case .file(let path): .file(path)
      case .server(let address): .server(address)
      }
    if case .file = location {
      options.preparation.insert(
        contentsOf: AuthenticatorRecord.Kind.tables.flatMap(\.preparation), at: 0)
    }
    do {
      database = try SQLDatabase(sqlLocation, schema: Schema.current, options: options)
      readiness =
        switch location {
        case .file(let path): FileProbe(path: path)
        case .server(let address): try ServerProbe(address: address)
        }
    } catch {
      if case .file = location, case SQLFailure.unreachable = error { throw .readOnly }
      throw StorageFailure(error)
    }
    (basis, faults) = (StepBasis(RowMAC(key: nil), AnswerRules()), nil)
  }

  /// The tables of a server's state.
  package static var schema: SQLSchema { Schema.current }

  /// Makes a storage over an in-memory database of ``schema`` that its caller has opened; closing either closes both.
  package init(over database: SQLDatabase) {
    self.database = database
    readiness = MemoryProbe(database: database)
    (basis, faults) = (StepBasis(RowMAC(key: nil), AnswerRules()), nil)
  }

  private init(
    _ other: Storage, mac: RowMAC? = nil, rules: AnswerRules? = nil, faults: StepFaults? = nil
  ) {
    database = other.database
    readiness = other.readiness
    basis = StepBasis(mac ?? other.mac, rules ?? other.basis.rules)
    self.faults = faults ?? other.faults
  }

  /// Returns the same storage with MACs on the rows on which security decisions depend.
  ///
  /// A row with a missing or wrong MAC is rejected: an attacker with write access to the database cannot forge one.
  ///
  /// - Parameter key: The MAC key, which is not in the database.
  /// - Returns: A storage over the same connections; closing either closes both.
  package func authenticatingRows(with key: HMACKey) -> Storage {
    Storage(self, mac: RowMAC(key: key))
  }

  /// Returns the same storage over the same connections, with these rules for whether an authenticator could answer a request.
  package func judging(by rules: AnswerRules) -> Storage { Storage(self, rules: rules) }

  /// Returns the same storage over the same connections, whose steps fail or lose their results as `faults` specifies.
  package func suffering(_ faults: StepFaults) -> Storage { Storage(self, faults: faults) }

  /// Checks that the stored data can be read and written, bypassing caches, with a durable write that has no effect on other steps.
  ///
  /// - Parameter time: The current time, in seconds since 1970, until which the written row has to be kept.
  /// - Throws: ``StorageFailure`` if the data cannot be read, is damaged, or cannot be written within some seconds.
  package func checkReadiness(at time: Int64) async throws(StorageFailure) {
    try await readiness.check(at: time)
  }

  /// The number of steps that wait for a connection.
  package var waitingChangeCount: Int { database.waitingStepCount }

  /// The number of commits; with SQLite it is smaller than the number of changes if some were committed together.
  package var commitCount: Int { database.commitCount }

  /// Finishes the pending changes and closes the database; later calls throw ``StorageFailure/closed``.
  package func close() async { await database.close() }
}

/// The content that a database must have when it is opened.
package enum StorageExpectation: Hashable, Sendable {
  /// No tables, or the tables of a server.
  case any
  /// No tables: they are created.
  case nothing
  /// The tables of a server, of any version.
  case tables
}

/// The location of the server's state.
package enum StorageLocation: Hashable, Sendable {
  /// An SQLite file, for one machine and any number of processes on it.
  case file(String)
  /// A PostgreSQL server: a URI or a connection string in the format of libpq.
  case server(String)
}

// The steps, and the mapping of database failures to ``StorageFailure``.
extension Storage {
  /// Runs a step that reads from one consistent state of the database.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (SQLConnection) throws -> Value
  ) async throws(StorageFailure) -> Value {
    do {
      try faults?.willBegin()
      let value = try await database.read(based(body)).value
      try faults?.didEnd()
      return value
    } catch { throw StorageFailure(error) }
  }

  /// Runs a step that makes one change, completely or not at all; the change is durable when this returns.
  ///
  /// - Parameter body: The change; it may run several times, but only one run is committed.
  /// - Returns: The value of `body`.
  /// - Throws: ``StorageFailure``.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (SQLConnection) throws -> Value
  ) async throws(StorageFailure) -> Value {
    do { return try await begin(body).value } catch { throw StorageFailure(error) }
  }

  /// Begins one change as ``write(_:)`` does, for changes that are too frequent for one task each.
  ///
  /// - Parameter body: The change; it may run several times, but only one run is committed.
  /// - Returns: The value of `body` or ``StorageFailure``, once the change is durable; a listener is called on the thread that writes.
  func begin<Value: Sendable>(
    _ body: @escaping @Sendable (SQLConnection) throws -> Value
  ) -> Completion<Value> {
    do { try faults?.willBegin() } catch {
      let completion = Completion<Value>()
      completion.settle(.failure(StorageFailure(error)))
      return completion
    }
    let change = database.write(naming: { StorageFailure($0) }, based(body))
    guard let faults else { return change }
    return change.map { value in
      do { try faults.didEnd() } catch { throw StorageFailure(error) }
      return value
    }
  }

  /// Returns the step with the MACs and the rules of this storage.
  private func based<Value: Sendable>(
    _ body: @escaping @Sendable (SQLConnection) throws -> Value
  ) -> @Sendable (SQLConnection) throws -> Value {
    { [basis] database in
      try database.use(basis)
      return try body(database)
    }
  }
}

/// Faults around the steps of a storage: a seam for simulations.
package struct StepFaults: Sendable {
  /// Called before a step begins; if it throws, the caller gets that error and the step does not run.
  package var willBegin: @Sendable () throws -> Void
  /// Called when a step is durable; if it throws, the caller gets that error instead of the result.
  package var didEnd: @Sendable () throws -> Void

  /// Makes faults.
  package init(
    willBegin: @escaping @Sendable () throws -> Void, didEnd: @escaping @Sendable () throws -> Void
  ) {
    (self.willBegin, self.didEnd) = (willBegin, didEnd)
  }
}

/// The row MACs and the rules of a storage's steps; a class, so that a step need not copy them.
private final class StepBasis: Sendable {
  let mac: RowMAC
  let rules: AnswerRules

  init(_ mac: RowMAC, _ rules: AnswerRules) { (self.mac, self.rules) = (mac, rules) }
}

extension SQLConnection {
  private static let basis = TransactionLocal<StepBasis>(isRetained: true)

  /// Sets the MACs and rules that the rest of this step uses.
  ///
  /// If the MACs differ from those of the last step, the connection's caches are cleared: they hold rows that other MACs verified.
  fileprivate func use(_ basis: StepBasis) throws {
    let last = try local(Self.basis) { basis }
    guard last !== basis else { return }
    if last.mac !== basis.mac { forgetLocals() }
    setLocal(Self.basis, to: basis)
  }

  private var basis: StepBasis {
    get throws { try local(Self.basis) { throw StorageFailure.failed(detail: "a step without a basis") } }
  }

  /// The row MACs of the storage that runs this step.
  var rowMAC: RowMAC { get throws { try basis.mac } }

  /// The rules of the storage that runs this step.
  var answerRules: AnswerRules { get throws { try basis.rules } }

  /// Returns `true` if a query finds a row.
  func exists(_ sql: String, _ values: [SQLValue]) throws -> Bool { try !rows(sql, values) { _ in }.isEmpty }

  /// Returns the single value of the single row; `nil` for no row.
  func number(_ sql: String, _ values: [SQLValue]) throws -> Int64? {
    try row(sql, values) { try $0.integer(0) }
  }
}

extension String {
  /// Returns a list of columns with the table's name before each, for a query that joins tables.
  func columns(of table: String) -> String {
    split(separator: ", ").map { "\(table).\($0)" }.joined(separator: ", ")
  }
}

extension StorageFailure {
  /// Maps the errors of databases to ``StorageFailure``.
  init(_ error: any Error) {
    self =
      switch error {
      case let failure as StorageFailure: failure
      case SQLFailure.busy: .busy
      case SQLFailure.full: .full
      case SQLFailure.readOnly: .readOnly
      case SQLFailure.closed: .closed
      case SQLFailure.unreachable, SQLFailure.outcomeUnknown: .unreachable(reason: "\(error)")
      case SQLFailure.unreadableAddress: .unreadableAddress(reason: "\(error)")
      case SQLFailure.otherSchema(let found?, let supported) where found > supported:
        .tooNew(found: found, known: supported)
      case SQLFailure.otherSchema(nil, _): .otherTables
      case SQLFailure.constraint(.unique, _): .exists
      case SQLFailure.constraint(.foreignKey, _): .unknown
      case let failure as SQLFailure: .failed(detail: failure.description)
      case SQLiteFailure.busy: .busy
      case SQLiteFailure.diskFull: .full
      case SQLiteFailure.readOnly, SQLiteFailure.cannotOpen: .readOnly
      case let failure as SQLiteFailure: .failed(detail: failure.description)
      default: .failed(detail: "\(type(of: error))")
      }
  }
}
