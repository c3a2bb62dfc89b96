import SignetSQL
import SignetStorage
import Synchronization

/// A database in memory for one history after the other: to make its tables and to compile its statements takes longer than a history.
final class SimulatedDatabase: Sendable {
  private static let free = Mutex<[SimulatedDatabase]>([])

  /// One that no run uses.
  ///
  /// - Throws: `StorageFailure`.
  static func take() throws -> SimulatedDatabase {
    try free.withLock { $0.popLast() } ?? SimulatedDatabase()
  }

  let storage: Storage
  private let executor: ScheduledExecutor

  private init() throws {
    let executor = ScheduledExecutor()
    var options = SQLOptions()
    options.makeExecutor = { executor }
    (storage, self.executor) = (try Storage(inMemoryWith: options), executor)
  }

  /// Empties it, and has a scheduler run its steps from then on.
  ///
  /// - Throws: `StorageFailure`; ``Run/Stuck``.
  func begin(with scheduler: SeededScheduler) throws {
    // Of a scheduler of its own: the history's would be another one after it.
    let first = SeededScheduler(seed: 0)
    executor.use(first)
    let result = Mutex<Result<Void, any Error>?>(nil)
    Task(executorPreference: first) { [storage] in
      do {
        try await storage.removeEverything()
        result.withLock { $0 = .success(()) }
      } catch { result.withLock { $0 = .failure(error) } }
    }
    first.run()
    guard let ended = result.withLock(\.self) else { throw Run.Stuck() }
    try ended.get()
    executor.use(scheduler)
  }

  /// Leaves it to the next run; one whose run did not come to its end is given up.
  func giveBack() { Self.free.withLock { $0.append(self) } }
}
