import SignetConcurrency
import SignetSQL
import SignetStorage
import Synchronization

/// A database in memory for one history after the other: to make its tables and to compile its statements takes longer than a history.
final class SimulatedDatabase: Sendable {
  private static let free = Mutex<[SimulatedDatabase]>([])

  /// One that no run uses.
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

  /// Empties it, and has a scheduler run its steps from then on.
  ///
  /// - Throws: `SQLFailure`; ``Run/Stuck``.
  func begin(with scheduler: SeededScheduler) throws {
    // Of a scheduler of its own: the history's would be another one after it.
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
    // What refers to others is made after them.
    let tables = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_version' ORDER BY rowid DESC"
    ) { try $0.text(0) }
    for table in tables { _ = try connection.execute("DELETE FROM \(table)") }
  }

  /// Leaves it to the next run; one whose run did not come to its end is given up.
  func giveBack() { Self.free.withLock { $0.append(self) } }
}
