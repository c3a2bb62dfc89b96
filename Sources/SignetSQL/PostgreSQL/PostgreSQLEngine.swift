import SignetSystem
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The engine for a PostgreSQL server: a few connections, each with a thread, take steps from one queue.
///
/// A step that conflicts with another one (SQLSTATE 40001, 40P01) is retried from the start, on the same connection, and
/// after 16 conflicts it runs alone. A step whose connection fails before `COMMIT` was sent is retried once, on a new one.
final class PostgreSQLEngine: SQLEngine {
  let dialect = SQLDialect.postgreSQL
  private let queue: StepQueue
  private let workers: [Worker]
  private let commits = Mutex(0)

  init(_ address: String, _ schema: SQLSchema, _ options: SQLOptions) throws {
    precondition(options.connectionCount > 0, "a server needs a connection")
    // Connects first, so that a wrong address is reported at the start.
    let session = try Worker.connect(address, options)
    let first = SQLConnection(session, nil)
    // Processes that start at the same time wait for each other here ("signet" as a number), before the transaction has its
    // snapshot. After a failure the lock ends with the connection.
    try first.define("SELECT pg_advisory_lock(126948414154100)")
    try Worker.transact(.define, first, options.runLimit) {
      try schema.migrate($0, expecting: options.expectation)
    }
    try first.define("SELECT pg_advisory_unlock(126948414154100)")
    let queue = StepQueue(workerCount: options.connectionCount)
    self.queue = queue
    workers =
      [Worker(0, queue, address, options, session)]
      + (1..<options.connectionCount).map { Worker($0, queue, address, options, nil) }
  }

  var waitingStepCount: Int { queue.count }
  var commitCount: Int { workers.reduce(0) { $0 + $1.commits.withLock { $0 } } }

  func begin(_ step: SQLStep, _ access: SQLAccess) {
    do throws(SQLFailure) {
      guard let index = try queue.add(StepQueue.Item(step: step, access: access)) else { return }
      workers[index].wake()
    } catch { step.finish(error) }
  }

  func close() async {
    await queue.close()
    for worker in workers { await worker.disconnect() }
  }

  /// A connection and its thread; the first worker's connection exists from the start, the others' are made when a step needs them.
  private actor Worker {
    nonisolated let commits = Mutex(0)
    private nonisolated let executor: any StepExecutor
    private let number: Int
    private let queue: StepQueue
    private let address: String
    private let options: SQLOptions
    private var connection: SQLConnection?

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(
      _ number: Int, _ queue: StepQueue, _ address: String, _ options: SQLOptions,
      _ session: sending PostgreSQLSession?
    ) {
      self.number = number
      self.queue = queue
      self.address = address
      self.options = options
      executor = options.makeExecutor()
      connection = session.map { SQLConnection($0, options.observer) }
    }

    nonisolated func wake() { executor.begin { [self] in assumeIsolated { $0.drain() } } }

    func disconnect() { connection = nil }

    private func drain() {
      while let item = queue.dequeue(atMost: 1, worker: number).first {
        do {
          try run(item)
          commits.withLock { $0 += 1 }
          item.step.finish(nil)
        } catch { item.step.finish(error) }
      }
    }

    private func run(_ item: StepQueue.Item) throws {
      var isRetry = false
      while true {
        let connection = try liveConnection()
        do {
          return try Self.transact(item.access, connection, options.runLimit) { connection in
            if let error = item.step.attempt(connection) { throw error }
          }
        } catch {
          // The server was restarted, or an idle connection was dropped on the network path.
          guard !isRetry, case .unreachable? = error as? SQLFailure else { throw error }
          isRetry = true
        }
      }
    }

    private func liveConnection() throws -> SQLConnection {
      if let connection, connection.isAlive { return connection }
      let new = SQLConnection(try Self.connect(address, options), options.observer)
      connection = new
      return new
    }

    static func connect(_ address: String, _ options: SQLOptions) throws -> PostgreSQLSession {
      let session = try PostgreSQLSession(address, options.busyTimeoutMilliseconds)
      try session.claimLane()
      return session
    }

    /// The number of runs of a step concurrently with others; each further run is alone.
    private static let sharedRoundCount = 16

    /// Runs `body` in a transaction, and retries it after a conflict.
    ///
    /// A step that conflicts again and again finally runs alone: it waits until the writing steps have ended, and new ones
    /// wait for it. So no step starves.
    static func transact(
      _ access: SQLAccess, _ connection: SQLConnection, _ runLimit: Int,
      _ body: (SQLConnection) throws -> Void
    ) throws {
      for round in 0..<runLimit {
        let isAlone = round >= sharedRoundCount && access == .write
        do {
          return try connection.transact(access, alone: isAlone) { try body(connection) }
        } catch let error as SQLFailure where error == .conflict || error == .busy && isAlone {
          // Steps that conflicted would conflict again, so each waits for a random time, up to 6 ms, on the connection's own thread.
          usleep(UInt32.random(in: 0...(100 << UInt32(min(round, 6)))))
        }
      }
      throw SQLFailure.busy
    }
  }
}

extension SQLConnection {
  fileprivate var isAlive: Bool { (session as? PostgreSQLSession)?.isAlive ?? true }
}
