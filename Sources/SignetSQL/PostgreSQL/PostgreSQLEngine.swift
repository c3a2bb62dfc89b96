import SignetConcurrency
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Steps on a PostgreSQL server: a few connections, each with a thread, take them from one queue.
///
/// A step that meets another one (SQLSTATE 40001, 40P01) runs again from the start, on the same connection, and after 16 conflicts alone;
/// one whose connection breaks before `COMMIT` was sent runs again once, on a new one.
final class PostgreSQLEngine: SQLEngine {
  let dialect = SQLDialect.postgreSQL
  private let queue: StepQueue
  private let workers: [Worker]
  private let commits = Mutex(0)

  init(_ address: String, _ schema: SQLSchema, _ options: SQLOptions) throws {
    precondition(options.connectionCount > 0, "a server needs a connection")
    // Opened before anything is promised: what is wrong with the address is said at the start.
    let session = try Worker.connect(address, options)
    let first = SQLConnection(session, nil)
    // Processes that begin at the same moment wait for each other here ("signet" as a number), before the transaction has the view of
    // the database that it keeps. Where something is wrong the lock ends with the connection.
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

  /// A connection and its thread; the first worker's is there from the start, the others' are made when a step needs them.
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
      while let item = queue.take(atMost: 1, worker: number).first {
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
        let connection = try usable()
        do {
          return try Self.transact(item.access, connection, options.runLimit) { connection in
            if let error = item.step.attempt(connection) { throw error }
          }
        } catch {
          // A server that was started again, or an idle connection that something between us has dropped.
          guard !isRetry, case .unreachable? = error as? SQLFailure else { throw error }
          isRetry = true
        }
      }
    }

    private func usable() throws -> SQLConnection {
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

    /// Runs of a step beside others; each further run is alone.
    private static let sharedRoundCount = 16

    /// Runs `body` in a transaction, again where others were in its way.
    ///
    /// A step that meets others again and again comes to run alone: it waits until those that write have ended, and they wait for it.
    /// So none loses for ever.
    static func transact(
      _ access: SQLAccess, _ connection: SQLConnection, _ runLimit: Int,
      _ body: (SQLConnection) throws -> Void
    ) throws {
      for round in 0..<runLimit {
        let isAlone = round >= sharedRoundCount && access == .write
        do {
          return try connection.transact(access, alone: isAlone) { try body(connection) }
        } catch let error as SQLFailure where error == .conflict || error == .busy && isAlone {
          // Steps that met would meet again: each waits for a time of its own, up to 6 ms, on the connection's own thread.
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
