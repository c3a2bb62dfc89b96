import SignetSQL
import SignetStorage
import SignetSystem
import Synchronization

/// A database in memory that histories use in turn: making its tables and compiling its statements takes longer than a history.
final class SimulatedDatabase: Sendable {
  private static let free = Mutex<[SimulatedDatabase]>([])

  /// Returns an unused database.
  ///
  /// - Throws: `SQLFailure`.
  static func take() throws -> SimulatedDatabase {
    try free.withLock { $0.popLast() } ?? SimulatedDatabase()
  }

  let storage: Storage
  private let database: SQLDatabase
  private let executor: ScheduledExecutor

  private init() throws {
    let executor = ScheduledExecutor()
    var options = SQLOptions()
    options.makeExecutor = { executor }
    database = try SQLDatabase(.memory, schema: Storage.schema, options: options)
    (storage, self.executor) = (Storage(over: database), executor)
  }

  /// Empties the database, and lets a scheduler run its steps from then on.
  ///
  /// - Throws: `SQLFailure`; ``Run/Stuck``.
  func begin(with scheduler: SeededScheduler) throws {
    // A separate scheduler, since this work would change the order of the history's.
    let first = SeededScheduler(seed: 0)
    executor.use(first)
    let result = Mutex<Result<Void, any Error>?>(nil)
    Task(executorPreference: first) { [database] in
      do {
        try await database.write(Self.removeEverything).value
        result.withLock { $0 = .success(()) }
      } catch { result.withLock { $0 = .failure(error) } }
    }
    first.run()
    guard let ended = result.withLock(\.self) else { throw Run.Stuck() }
    try ended.get()
    executor.use(scheduler)
  }

  @Sendable private static func removeEverything(_ connection: SQLConnection) throws {
    // Referring tables are created after the referenced ones.
    let tables = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_version' ORDER BY rowid DESC"
    ) { try $0.text(0) }
    for table in tables { _ = try connection.execute("DELETE FROM \(table)") }
  }

  /// Returns it for the next run; one whose run did not end is discarded.
  func giveBack() { Self.free.withLock { $0.append(self) } }
}
