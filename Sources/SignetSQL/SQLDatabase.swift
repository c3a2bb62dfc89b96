public import SignetConcurrency

/// Where a database is.
public enum SQLLocation: Sendable, Hashable {
  /// SQLite: a file, made with mode 0600 if there is none. The folder must exist.
  case file(String)
  /// SQLite in memory, gone with the last reference; one connection reads and writes.
  case memory
  /// PostgreSQL: a URI or a connection string as libpq has them (`postgres://host/name?sslmode=verify-full`).
  case server(String)
}

/// What a database has to hold when it is opened.
public enum SQLExpectation: Sendable, Hashable {
  /// Nothing, or the tables of the schema.
  case any
  /// Nothing: they are made.
  case nothing
  /// The tables of the schema, of whatever version.
  case tables
}

/// How patient a database is, and how many connections it has.
public struct SQLOptions: Sendable {
  /// How long a step waits for other processes before ``SQLFailure/busy``.
  public var busyTimeoutMilliseconds = 10_000
  /// What has to be there.
  public var expectation = SQLExpectation.any
  /// Connections to a server, each with a thread.
  public var connectionCount = 8
  /// How often a step runs at most, where others are in its way, before ``SQLFailure/busy``.
  public var runLimit = 50
  /// Statements that SQLite's writer runs at the start, such as those that read what is looked up often into memory.
  public var preparation: [String] = []
  /// Makes the thread of each connection.
  package var makeExecutor: @Sendable () -> any StepExecutor = { DedicatedThread() }
  /// Looks at each statement.
  package var observer: SQLObserver?

  /// The usual options.
  public init() {}
}

/// A database whose changes are steps: each reads, decides and writes in one serializable transaction.
///
/// A step is a closure that runs synchronously on a connection's own thread. It may run several times, so it has no effect outside
/// of the database. Its completion is reached once the change is durable.
public final class SQLDatabase: Sendable {
  private let engine: any SQLEngine

  /// The language of the database.
  public let dialect: SQLDialect

  /// Opens a database and brings its schema up to date; it blocks.
  ///
  /// - Throws: ``SQLFailure``.
  public init(_ location: SQLLocation, schema: SQLSchema, options: SQLOptions = SQLOptions()) throws {
    switch location {
    case .file(let path): engine = try SQLiteEngine(path: path, schema, options)
    case .memory: engine = try SQLiteEngine(path: nil, schema, options)
    case .server(let address): engine = try PostgreSQLEngine(address, schema, options)
    }
    dialect = engine.dialect
  }

  /// Reads, from one state that nobody changes meanwhile.
  ///
  /// - Returns: What `body` returns, or throws, or ``SQLFailure``.
  @discardableResult
  @inlinable package func read<Value: Sendable>(
    _ body: @escaping @Sendable (SQLConnection) throws -> Value
  ) -> Completion<Value> {
    let completion = Completion<Value>()
    begin(step(body, completion, naming: { $0 }), .read)
    return completion
  }

  /// Makes one change, wholly or not at all; it is durable when the completion is reached.
  ///
  /// - Parameters:
  ///   - failure: The caller's name for what the change failed with.
  ///   - body: The change.
  /// - Returns: What `body` returns; what it throws undoes the change.
  @discardableResult
  @inlinable package func write<Value: Sendable>(
    naming failure: @escaping @Sendable (any Error) -> any Error = { $0 },
    _ body: @escaping @Sendable (SQLConnection) throws -> Value
  ) -> Completion<Value> {
    let completion = Completion<Value>()
    begin(step(body, completion, naming: failure), .write)
    return completion
  }

  @usableFromInline func begin(_ step: SQLStep, _ access: SQLAccess) { engine.begin(step, access) }

  /// How many steps wait for a connection.
  package var waitingStepCount: Int { engine.waitingStepCount }

  /// How many commits there were; with SQLite fewer than steps, where these came together.
  package var commitCount: Int { engine.commitCount }

  /// Refuses further steps, finishes those that were begun, and closes all connections.
  public func close() async { await engine.close() }
}

/// Runs steps on the connections of one database.
protocol SQLEngine: Sendable {
  var dialect: SQLDialect { get }
  var waitingStepCount: Int { get }
  var commitCount: Int { get }
  func begin(_ step: SQLStep, _ access: SQLAccess)
  func close() async
}
