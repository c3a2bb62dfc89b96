import SignetSystem
import Synchronization

/// The engine for one SQLite database: one connection writes, one reads.
///
/// A commit with `synchronous=FULL` waits for the disk, equally long for one step or many. In the meantime further steps queue
/// up, and the next commit takes all of them. They run one after the other. If one fails, all are rolled back and run again,
/// each in a savepoint, so that a failed step rolls back only itself. No completion is settled before the commit is on the disk.
final class SQLiteEngine: SQLEngine {
  /// The maximum number of steps in one commit, which limits the waiting time of the first.
  private static let batchLimit = 256

  let dialect = SQLDialect.sqlite
  private let writer: Worker
  /// `nil` for a database in memory, which has one connection.
  private let reader: Worker?

  init(path: String?, _ schema: SQLSchema, _ options: SQLOptions) throws {
    writer = try Worker(path, .write, schema, options)
    reader = try path.map { try Worker($0, .read, schema, options) }
  }

  var waitingStepCount: Int { writer.queue.count + (reader?.queue.count ?? 0) }
  var commitCount: Int { writer.commits.withLock { $0 } }

  func begin(_ step: SQLStep, _ access: SQLAccess) {
    let worker = access == .read ? reader ?? writer : writer
    worker.begin(StepQueue.Item(step: step, access: access))
  }

  func close() async {
    await reader?.close()
    await writer.close()
  }

  /// A connection and its thread.
  private actor Worker {
    nonisolated let queue = StepQueue(workerCount: 1)
    nonisolated let commits = Mutex(0)
    private nonisolated let executor: any StepExecutor
    private let access: SQLAccess
    private var connection: SQLConnection?

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ path: String?, _ access: SQLAccess, _ schema: SQLSchema, _ options: SQLOptions) throws {
      executor = options.makeExecutor()
      self.access = access
      let session = try SQLiteSession(path: path, options.busyTimeoutMilliseconds)
      if access == .write {
        let setup = SQLConnection(session, nil)
        try session.define("PRAGMA wal_autocheckpoint = 16000")
        try session.define("PRAGMA cache_size = -98304")
        try setup.transact(.define) { try schema.migrate(setup, expecting: options.expectation) }
        for statement in options.preparation { _ = try session.run(statement, []) { _ in } }
      }
      connection = SQLConnection(session, access == .write ? options.observer : nil)
    }

    nonisolated func begin(_ item: StepQueue.Item) {
      do throws(SQLFailure) {
        guard try queue.add(item) != nil else { return }
      } catch { return item.step.finish(error) }
      // Directly to the thread: a separate task would be scheduled twice on the shared pool.
      executor.begin { [self] in assumeIsolated { $0.drain() } }
    }

    nonisolated func close() async {
      await queue.close()
      await disconnect()
    }

    private func disconnect() { connection = nil }

    private func drain() {
      while true {
        let batch = queue.dequeue(atMost: access == .write ? SQLiteEngine.batchLimit : 1, worker: 0)
        if batch.isEmpty { return }
        guard let connection else { preconditionFailure("a closed queue takes nothing") }
        commit(batch, connection)
      }
    }

    private func commit(_ batch: ArraySlice<StepQueue.Item>, _ connection: SQLConnection) {
      do {
        do { try run(batch, connection, apart: false) } catch is Undo {
          try run(batch, connection, apart: true)
        }
        commits.withLock { $0 += 1 }
        for item in batch { item.step.finish(nil) }
      } catch { for item in batch { item.step.finish(error) } }
    }

    /// The error after a failed step without a savepoint, whose earlier changes have to be rolled back.
    private struct Undo: Error {}

    /// Runs steps in one transaction, committed when this returns.
    private func run(_ batch: ArraySlice<StepQueue.Item>, _ connection: SQLConnection, apart: Bool) throws {
      try connection.transact(batch.first?.access ?? access) {
        for item in batch {
          let error =
            apart
            ? try connection.savepoint { item.step.attempt(connection) }
            : item.step.attempt(connection)
          guard let error, !apart else { continue }
          if let failure = error as? SQLFailure, failure.isPersistent { throw failure }
          throw Undo()
        }
      }
    }
  }
}

extension SQLFailure {
  /// Indicates whether the next step would fail in the same way.
  fileprivate var isPersistent: Bool {
    switch self {
    case .busy, .full, .readOnly: true
    default: false
    }
  }
}
