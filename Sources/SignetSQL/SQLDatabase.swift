public import SignetSystem

/// The location of a database.
public enum SQLLocation: Sendable, Hashable {
  /// SQLite: a file, created with mode 0600 if it is missing. The folder must exist.
  case file(String)
  /// SQLite in memory, discarded with the last reference; one connection reads and writes.
  case memory
  /// PostgreSQL: a URI or a connection string in the format of libpq (`postgres://host/name?sslmode=verify-full`).
  case server(String)
}

/// The content that a database must have when it is opened.
public enum SQLExpectation: Sendable, Hashable {
  /// No tables, or the tables of the schema.
  case any
  /// No tables: they are created.
  case nothing
  /// The tables of the schema, in any version.
  case tables
}

/// The time-outs, the number of connections, and seams of a database.
public struct SQLOptions: Sendable {
  /// The time that a step waits for other processes before ``SQLFailure/busy``, in milliseconds.
  public var busyTimeoutMilliseconds = 10_000
  /// The expected content.
  public var expectation = SQLExpectation.any
  /// The number of connections to a server, each with a thread.
  public var connectionCount = 8
  /// The maximum number of runs of a step, if conflicts occur, before ``SQLFailure/busy``.
  public var runLimit = 50
  /// Statements that SQLite's writer runs at the start, such as those that load frequently used data into memory.
  public var preparation: [String] = []
  /// Makes the thread of each connection.
  package var makeExecutor: @Sendable () -> any StepExecutor = { DedicatedThread() }
  /// Observes each statement.
  package var observer: SQLObserver?

  /// Makes the default options.
  public init() {}
}

/// A database whose changes are steps: each reads, decides and writes in one serializable transaction.
///
/// A step is a closure that runs synchronously on a connection's own thread. It may run several times, so it must have no
/// effect outside of the database. Its completion is settled once the change is durable.
public final class SQLDatabase: Sendable {
  private let engine: any SQLEngine

  /// The dialect of the database.
  public let dialect: SQLDialect

  /// Opens a database and migrates its schema to the current version; it blocks.
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

  /// Runs a step that reads from one consistent state of the database.
  ///
  /// - Returns: The value or the error of `body`, or ``SQLFailure``.
  @discardableResult
  @inlinable package func read<Value: Sendable>(
    _ body: @escaping @Sendable (SQLConnection) throws -> Value
  ) -> Completion<Value> {
    let completion = Completion<Value>()
    begin(step(body, completion, naming: { $0 }), .read)
    return completion
  }

  /// Runs a step that makes one change, completely or not at all; the change is durable when the completion is settled.
  ///
  /// - Parameters:
  ///   - failure: Maps an error of the change to the caller's error.
  ///   - body: The change.
  /// - Returns: The value of `body`; an error of `body` rolls back the change.
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

  /// The number of steps that wait for a connection.
  package var waitingStepCount: Int { engine.waitingStepCount }

  /// The number of commits; with SQLite it is smaller than the number of steps if some were committed together.
  package var commitCount: Int { engine.commitCount }

  /// Rejects further steps, finishes the pending ones, and closes all connections.
  public func close() async { await engine.close() }
}

/// An executor of steps on the connections of one database.
protocol SQLEngine: Sendable {
  var dialect: SQLDialect { get }
  var waitingStepCount: Int { get }
  var commitCount: Int { get }
  func begin(_ step: SQLStep, _ access: SQLAccess)
  func close() async
}
