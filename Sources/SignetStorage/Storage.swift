import SignetConcurrency
public import SignetCrypto
package import SignetSQL
import SignetSQLite

/// The server's durable state, in SQLite or in PostgreSQL.
///
/// Every method is one atomic step and is durable when it returns. Steps are serializable: a step reads the rows, a rule (the folder
/// `Rules`) decides from their values, and the step writes the result as if no other step ran meanwhile. So only one of several callers
/// wins (a one-time code, an invite, a decision), between tasks, processes and machines on one database; a step that another one
/// disturbed runs again. A method that takes an ``AuditRecord`` writes it in the same step as the change.
///
/// Times are whole seconds since 1970, as the caller's clock says: storage has no clock of its own.
/// `StorageContract` in `SignetServerTesting` is this contract as tests, which run on both databases.
public final class Storage: Sendable {
  private let database: SQLDatabase
  private let readiness: any ReadinessProbe
  private let basis: StepBasis
  private let faults: StepFaults?

  var mac: RowMAC { basis.mac }

  /// Opens a database and brings its schema up to date; it blocks.
  ///
  /// - Parameters:
  ///   - location: A file, made with mode 0600 if there is none, whose folder must exist; or a server.
  ///   - expectation: What has to be there.
  ///   - busyTimeoutMilliseconds: How long a call waits for other processes, before ``StorageFailure/busy``.
  /// - Throws: ``StorageFailure``.
  public convenience init(
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

  /// Opens a database as ``init(_:busyTimeoutMilliseconds:)`` does, with options that tests need.
  package init(_ location: StorageLocation, options: SQLOptions) throws(StorageFailure) {
    var options = options
    let place: SQLLocation =
      switch location {
      case .file(let path): .file(path)
      case .server(let address): .server(address)
      }
    if case .file = location {
      options.preparation.insert(
        contentsOf: AuthenticatorRecord.Kind.tables.flatMap(\.preparation), at: 0)
    }
    do {
      database = try SQLDatabase(place, schema: Schema.current, options: options)
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

  /// A storage over a database of ``schema`` that its caller has opened, in memory; closing either closes both.
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

  /// The same storage, whose rows that decide by themselves have MACs under a key of the server's.
  ///
  /// A row without its MAC, or with another, is refused: who can write the database cannot make one up.
  ///
  /// - Parameter key: The key, which is not in the database.
  /// - Returns: A storage over the same connections; closing either closes both.
  public func authenticatingRows(with key: HMACKey) -> Storage {
    Storage(self, mac: RowMAC(key: key))
  }

  /// The same storage over the same connections, whose steps go by these rules where they look for somebody who could answer a request.
  public func judging(by rules: AnswerRules) -> Storage { Storage(self, rules: rules) }

  /// The same storage over the same connections, whose steps fail, or lose their answers, where `faults` says so.
  package func suffering(_ faults: StepFaults) -> Storage { Storage(self, faults: faults) }

  /// Looks at what is stored, past all that is remembered of it, and makes a durable change that means nothing.
  ///
  /// - Parameter time: Until when the change has to be kept, in seconds since 1970; that is, now.
  /// - Throws: ``StorageFailure`` where what is stored cannot be read, is damaged, or takes no change within some seconds.
  public func checkReadiness(at time: Int64) async throws(StorageFailure) {
    try await readiness.look(at: time)
  }

  /// How many steps wait for a connection.
  package var waitingChangeCount: Int { database.waitingStepCount }

  /// How many commits there were; with SQLite fewer than changes where these came together.
  package var commitCount: Int { database.commitCount }

  /// Finishes the changes that were begun and closes the database; later calls throw ``StorageFailure/closed``.
  public func close() async { await database.close() }
}

/// What a database has to hold when it is opened.
public enum StorageExpectation: Hashable, Sendable {
  /// Nothing, or the tables of a server.
  case any
  /// Nothing: the tables are made.
  case nothing
  /// The tables of a server, of whatever version.
  case tables
}

/// Where the server's state is.
public enum StorageLocation: Hashable, Sendable {
  /// An SQLite file, for one machine and any number of processes on it.
  case file(String)
  /// A PostgreSQL server: a URI or a connection string as libpq has them.
  case server(String)
}

// The steps, and how failures get our names.
extension Storage {
  /// Reads from one state that nobody changes meanwhile.
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

  /// Makes one change, wholly or not at all; it is durable when this returns.
  ///
  /// - Parameter body: The change; it may run several times, of which one counts.
  /// - Returns: What `body` returns.
  /// - Throws: ``StorageFailure``.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (SQLConnection) throws -> Value
  ) async throws(StorageFailure) -> Value {
    do { return try await begin(body).value } catch { throw StorageFailure(error) }
  }

  /// Begins one change as ``write(_:)`` makes it, for changes that are too frequent for a task each.
  ///
  /// - Parameter body: The change; it may run several times, of which one counts.
  /// - Returns: What `body` returns or ``StorageFailure``, once it is durable; a listener hears it on the thread that writes.
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

  /// The step by the MACs and the rules of this storage.
  private func based<Value: Sendable>(
    _ body: @escaping @Sendable (SQLConnection) throws -> Value
  ) -> @Sendable (SQLConnection) throws -> Value {
    { [basis] database in
      try database.use(basis)
      return try body(database)
    }
  }
}

/// What goes wrong around the steps of a storage: a seam for simulations.
package struct StepFaults: Sendable {
  /// Called before a step begins; what it throws is what the caller gets, and nothing is done.
  package var willBegin: @Sendable () throws -> Void
  /// Called when a step is durable; what it throws is what the caller gets in the place of the answer.
  package var didEnd: @Sendable () throws -> Void

  /// Faults.
  package init(
    willBegin: @escaping @Sendable () throws -> Void, didEnd: @escaping @Sendable () throws -> Void
  ) {
    (self.willBegin, self.didEnd) = (willBegin, didEnd)
  }
}

/// What the steps of a storage go by; a class, since each step would copy it.
private final class StepBasis: Sendable {
  let mac: RowMAC
  let rules: AnswerRules

  init(_ mac: RowMAC, _ rules: AnswerRules) { (self.mac, self.rules) = (mac, rules) }
}

extension SQLConnection {
  private static let basis = TransactionLocal<StepBasis>(isKept: true)

  /// Has what follows in this step read and write rows with these MACs, and go by these rules.
  ///
  /// What a connection keeps was believed by the MACs of those rows: steps with other ones do not find it.
  fileprivate func use(_ basis: StepBasis) throws {
    let last = try local(Self.basis) { basis }
    guard last !== basis else { return }
    if last.mac !== basis.mac { forgetLocals() }
    setLocal(Self.basis, to: basis)
  }

  private var basis: StepBasis {
    get throws { try local(Self.basis) { throw StorageFailure.failed(detail: "a step without a basis") } }
  }

  /// The MACs of the storage whose step this is.
  var rowMAC: RowMAC { get throws { try basis.mac } }

  /// The rules of the storage whose step this is.
  var answerRules: AnswerRules { get throws { try basis.rules } }

  /// Whether a query has a row.
  func exists(_ sql: String, _ values: [SQLValue]) throws -> Bool { try !rows(sql, values) { _ in }.isEmpty }

  /// The only value of the only row, or `nil` where there is no row.
  func number(_ sql: String, _ values: [SQLValue]) throws -> Int64? {
    try row(sql, values) { try $0.integer(0) }
  }
}

extension String {
  /// Names of columns as a query writes them that joins tables.
  func columns(of table: String) -> String {
    split(separator: ", ").map { "\(table).\($0)" }.joined(separator: ", ")
  }
}

extension StorageFailure {
  /// The one place where the failures of databases get our names.
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
