import SignetConcurrency
import SignetSQLite
import Synchronization

/// Writes to one SQLite file, the changes of concurrent callers in one commit.
///
/// A commit with `synchronous=FULL` waits for the disk, for as long whether it holds one change or many. While one waits, others
/// queue up; the next commit takes them all. Each change runs in a savepoint, so one that fails undoes only itself, and
/// nobody hears of success before the commit that holds it is on the disk.
final class GroupCommit: Sendable {
  /// The most changes in one commit: bounds how long the first of them waits.
  private static let batchLimit = 256

  /// Runs a change, where there is a database to run it on.
  private typealias Change = @Sendable (Database?) -> Staged
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
    path: String, migrations: [Migration], observer: Database.StatementObserver? = nil
  ) throws(StorageFailure) {
    connection = try Connection(path: path, migrations: migrations, observer: observer)
  }

  /// How many changes wait for the next commit.
  var waitingChangeCount: Int { queue.withLock { $0.changes.count } }

  /// How many commits there were; tests compare it with the number of changes.
  var commitCount: Int {
    get async { await connection.commitCount }
  }

  /// Makes one change; it is durable when this returns.
  ///
  /// - Throws: What `body` throws where it is a ``StorageFailure``, or what the commit failed with.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StorageFailure) -> Value {
    let result: Result<Value, StorageFailure> = await withCheckedContinuation { continuation in
      let change: Change = { database in
        let outcome = Result {
          guard let database else { throw StorageFailure.closed }
          return try database.savepoint { try body(database) }
        }.mapError(StorageFailure.init)
        let failure: StorageFailure? =
          switch outcome {
          case .success: nil
          case .failure(let failure): failure
          }
        return Staged(failure: failure) { failure in
          continuation.resume(returning: failure.map(Result.failure) ?? outcome)
        }
      }
      let verdict = queue.withLock { queue -> (isClosed: Bool, startsDraining: Bool) in
        guard !queue.isClosed else { return (true, false) }
        queue.changes.append(change)
        defer { queue.isDraining = true }
        return (false, !queue.isDraining)
      }
      if verdict.isClosed { continuation.resume(returning: .failure(.closed)) }
      if verdict.startsDraining { Task { await drain() } }
    }
    return try result.get()
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

  private func drain() async {
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
      await connection.commit(batch)
    }
  }

  /// The one connection that writes.
  private actor Connection {
    private let executor = BlockingExecutor(label: "signet.storage.writer")
    private var database: Database?
    private(set) var commitCount = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(
      path: String, migrations: [Migration], observer: Database.StatementObserver?
    ) throws(StorageFailure) {
      do {
        let database = try Database(path: path, mode: .readWriteCreate)
        try database.migrate(migrations)
        database.willExecute = observer
        self.database = database
      } catch { throw StorageFailure(error) }
    }

    func close() { database = nil }

    func commit(_ changes: [Change]) {
      guard let database else {
        for change in changes { change(nil).tell(.closed) }
        return
      }
      var staged: [Staged] = []
      var failure: StorageFailure?
      do {
        try database.transaction {
          for change in changes { staged.append(change(database)) }
        }
        commitCount += 1
      } catch {
        // A full disk makes SQLite roll everything back in the middle; the commit then says only that there is nothing
        // to commit, and the change that met the cause knows it.
        failure = staged.lazy.compactMap(\.failure).first(where: \.endsTransaction) ?? StorageFailure(error)
        // Where the transaction could not begin, nothing was run, and everyone hears why.
        for change in changes[staged.count...] { staged.append(change(nil)) }
      }
      for change in staged { change.tell(failure) }
    }
  }
}

extension StorageFailure {
  /// Whether SQLite may have rolled back more than the statement that failed (<https://www.sqlite.org/lang_transaction.html>
  /// section 3.1).
  fileprivate var endsTransaction: Bool {
    switch self {
    case .busy, .full, .readOnly, .failed: true
    case .exists, .unknown, .tooNew, .closed: false
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
