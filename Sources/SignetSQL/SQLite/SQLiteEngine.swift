import SignetConcurrency
import Synchronization

/// Steps on one SQLite database: one connection writes, one reads.
///
/// A commit with `synchronous=FULL` waits for the disk, for as long whether it holds one step or many. While one waits, others queue
/// up; the next commit takes them all. They run one after the other; where one fails, all are undone and run again, each in a
/// savepoint, so that one that fails undoes only itself. Nobody hears of success before the commit is on the disk.
final class SQLiteEngine: SQLEngine {
  /// The most steps in one commit: bounds how long the first of them waits.
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
      // Straight to the thread: a task of its own would take two turns through the shared pool.
      executor.begin { [self] in assumeIsolated { $0.drain() } }
    }

    nonisolated func close() async {
      await queue.close()
      await disconnect()
    }

    private func disconnect() { connection = nil }

    private func drain() {
      while true {
        let batch = queue.take(atMost: access == .write ? SQLiteEngine.batchLimit : 1, worker: 0)
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

    /// A step failed that is not in a savepoint: what it did before would stay.
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
          if let failure = error as? SQLFailure, failure.isOfTheDisk { throw failure }
          throw Undo()
        }
      }
    }
  }
}

extension SQLFailure {
  /// Whether the next step would fail in the same way.
  fileprivate var isOfTheDisk: Bool {
    switch self {
    case .busy, .full, .readOnly: true
    default: false
    }
  }
}
