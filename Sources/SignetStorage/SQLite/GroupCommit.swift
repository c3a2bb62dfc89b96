import SignetConcurrency
import SignetSQLite
import Synchronization

/// Writes to one SQLite file, the changes of concurrent callers in one commit.
///
/// A commit with `synchronous=FULL` waits for the disk, for as long whether it holds one change or many. While one waits, others
/// queue up; the next commit takes them all. They run one after the other; where one fails, all are undone and run again,
/// each in a savepoint, so that one that fails undoes only itself. Nobody hears of success before the commit that holds it is
/// on the disk.
final class GroupCommit: Sendable {
  /// The most changes in one commit: bounds how long the first of them waits.
  private static let batchLimit = 256

  /// Runs a change, where there is a database to run it on, in a savepoint or not.
  private typealias Change = @Sendable (Database?, _ undoesItself: Bool) -> Staged
  /// A change failed that is not in a savepoint: what it did before would stay.
  private struct Undo: Error {}
  /// Hears how a commit ended; `nil` is success.
  private typealias Listener = @Sendable (StorageFailure?) -> Void
  /// A change that was run: what it failed with by itself, and who must be told how the commit ended.
  private struct Staged {
    let failure: StorageFailure?
    let tell: Listener
  }

  private struct Queue {
    var changes: [Change] = []
    var isDraining = false
    var isClosed = false
    /// Who waits for the last change before closing.
    var closing: [CheckedContinuation<Void, Never>] = []
  }

  private let queue = Mutex(Queue())
  private let connection: Connection

  /// Opens the file and brings its schema up to date.
  ///
  /// Each statement of a change is shown to `observer` before it runs; tests break changes off there.
  init(
    path: String, busyTimeoutMilliseconds: Int, migrations: [Migration],
    observer: Database.StatementObserver? = nil
  ) throws(StorageFailure) {
    connection = try Connection(path: path, busyTimeoutMilliseconds, migrations, observer)
  }

  /// How many changes wait for the next commit.
  var waitingChangeCount: Int { queue.withLock { $0.changes.count } }

  /// How many commits there were; tests compare it with the number of changes.
  var commitCount: Int {
    get async { await connection.commitCount }
  }

  /// Makes one change; it is durable when this returns.
  ///
  /// - Parameter body: The change; it may run twice, and the first time is undone then.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws where it is a ``StorageFailure``, or what the commit failed with.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StorageFailure) -> Value {
    let result: Result<Value, StorageFailure> = await withCheckedContinuation { continuation in
      write(body) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  /// Makes one change as ``write(_:)`` does, without a task.
  ///
  /// - Parameters:
  ///   - body: The change; it may run twice, and the first time is undone then.
  ///   - listener: Hears how it ended, once it is durable; on the thread that writes, so it must not block.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value,
    then listener: @escaping @Sendable (Result<Value, StorageFailure>) -> Void
  ) {
    let change: Change = { database, undoesItself in
      let outcome = Result {
        guard let database else { throw StorageFailure.closed }
        return try undoesItself ? database.savepoint { try body(database) } : body(database)
      }.mapError(StorageFailure.init)
      let failure: StorageFailure? =
        switch outcome {
        case .success: nil
        case .failure(let failure): failure
        }
      return Staged(failure: failure) { failure in
        listener(failure.map(Result.failure) ?? outcome)
      }
    }
    let verdict = queue.withLock { queue -> (isClosed: Bool, startsDraining: Bool) in
      guard !queue.isClosed else { return (true, false) }
      queue.changes.append(change)
      defer { queue.isDraining = true }
      return (false, !queue.isDraining)
    }
    if verdict.isClosed { listener(.failure(.closed)) }
    if verdict.startsDraining {
      // Straight to the thread that writes: a task of its own would take two turns through the shared pool.
      connection.executor.begin { [self] in connection.assumeIsolated { drain($0) } }
    }
  }

  /// Refuses further changes, waits for those that were queued, and closes the file.
  func close() async {
    await withCheckedContinuation { continuation in
      let isIdle = queue.withLock { queue -> Bool in
        queue.isClosed = true
        guard queue.isDraining else { return true }
        queue.closing.append(continuation)
        return false
      }
      if isIdle { continuation.resume() }
    }
    await connection.close()
  }

  private func drain(_ connection: isolated Connection) {
    while true {
      let (batch, closing) = queue.withLock { queue in
        let batch = Array(queue.changes.prefix(Self.batchLimit))
        queue.changes.removeFirst(batch.count)
        guard batch.isEmpty else { return (batch, [CheckedContinuation<Void, Never>]()) }
        queue.isDraining = false
        defer { queue.closing = [] }
        return (batch, queue.closing)
      }
      for continuation in closing { continuation.resume() }
      if batch.isEmpty { return }
      connection.commit(batch)
    }
  }

  /// The one connection that writes.
  private actor Connection {
    nonisolated let executor = BlockingExecutor(label: "signet.storage.writer")
    private var database: Database?
    private(set) var commitCount = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(
      path: String, _ busyTimeoutMilliseconds: Int, _ migrations: [Migration],
      _ observer: Database.StatementObserver?
    ) throws(StorageFailure) {
      do {
        let database = try Database(
          path: path, mode: .readWriteCreate, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
        // Pages that many commits change are written into the file once for all of them, and those that are looked up often,
        // of a million credentials, stay in memory: 64 MiB of log on the disk and 96 MiB of memory. What each code looks up is
        // read now, in one go.
        try database.execute(script: "PRAGMA wal_autocheckpoint = 16000; PRAGMA cache_size = -98304")
        try database.migrate(migrations)
        _ = try database.query(SQLiteSchema.lookedUpByCodes)
        database.willExecute = observer
        self.database = database
      } catch { throw StorageFailure(error) }
    }

    func close() { database = nil }

    func commit(_ changes: [Change]) {
      guard let database else {
        for change in changes { change(nil, false).tell(.closed) }
        return
      }
      var staged: [Staged] = []
      var failure: StorageFailure?
      do {
        do { staged = try run(changes, on: database, undoingThemselves: false) } catch is Undo {
          staged = try run(changes, on: database, undoingThemselves: true)
        }
        commitCount += 1
      } catch let aborted as Aborted {
        // A full disk makes SQLite roll everything back in the middle; the commit then says only that there is nothing
        // to commit, and the change that met the cause knows it.
        staged = aborted.staged
        failure =
          staged.lazy.compactMap(\.failure).first(where: \.endsTransaction) ?? StorageFailure(aborted.cause)
        // Where the transaction could not begin, nothing was run, and everyone hears why.
        for change in changes[staged.count...] { staged.append(change(nil, false)) }
      } catch { preconditionFailure("a transaction ends in one of three ways") }
      for change in staged { change.tell(failure) }
    }

    /// A transaction that was not committed, with what was run in it.
    private struct Aborted: Error {
      let staged: [Staged]
      let cause: any Error
    }

    /// Runs changes in one transaction, committed when this returns.
    private func run(
      _ changes: [Change], on database: Database, undoingThemselves undoThemselves: Bool
    ) throws -> [Staged] {
      var staged: [Staged] = []
      do {
        try database.transaction {
          database.forgetNotes()
          for change in changes {
            let one = change(database, undoThemselves)
            staged.append(one)
            if !undoThemselves, let failure = one.failure {
              if failure.isOfTheDisk { throw failure }
              throw Undo()
            }
          }
        }
      } catch let undo as Undo {
        throw undo
      } catch { throw Aborted(staged: staged, cause: error) }
      return staged
    }
  }
}

extension StorageFailure {
  /// Whether SQLite may have rolled back more than the statement that failed (<https://www.sqlite.org/lang_transaction.html>
  /// section 3.1).
  fileprivate var endsTransaction: Bool {
    switch self {
    case .busy, .full, .readOnly, .failed: true
    case .exists, .unknown, .tooNew, .closed, .altered: false
    }
  }

  /// Whether the next change would fail in the same way.
  fileprivate var isOfTheDisk: Bool {
    switch self {
    case .busy, .full, .readOnly: true
    case .failed, .exists, .unknown, .tooNew, .closed, .altered: false
    }
  }

  /// The one place where SQLite's failures get our names.
  init(_ error: any Error) {
    self =
      switch error {
      case let failure as StorageFailure: failure
      case SQLiteFailure.busy: .busy
      case SQLiteFailure.diskFull: .full
      case SQLiteFailure.readOnly, SQLiteFailure.cannotOpen: .readOnly
      case SQLiteFailure.tooNew(let found, let supported): .tooNew(found: found, known: supported)
      case SQLiteFailure.constraint(.primaryKey, _, _), SQLiteFailure.constraint(.unique, _, _): .exists
      case SQLiteFailure.constraint(.foreignKey, _, _): .unknown
      case let failure as SQLiteFailure: .failed(detail: failure.description)
      default: .failed(detail: "\(type(of: error))")
      }
  }
}
