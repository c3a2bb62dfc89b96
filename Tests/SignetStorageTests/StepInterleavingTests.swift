import Dispatch
import PostgreSQLFixture
import SignetCrypto
import SignetServerTesting
import SignetSQL
import SignetStorage
import SignetSystem
import SignetTestKit
import Synchronization
import Testing

/// Two competing steps of two processes: one is stopped before each of its statements in turn, while the other runs as far as it
/// can.
///
/// Both outcomes, and all resulting rows, must be those of one of the two orders of the steps.
///
/// On SQLite only the stop before `BEGIN` interleaves: later the stopped step holds the lock, and the other waits for its end.
@Suite(.timeLimit(.minutes(10))) struct StepInterleavingTests {
  @Test(
    "two competing steps, interrupted anywhere, end as one after the other",
    arguments: StepContest.all, StorageBackend.here)
  func contest(_ contest: StepContest, _ backend: StorageBackend) async throws {
    let arena = try await StepArena(contest, backend)
    let orders = [try await arena.inOrder([0, 1]), try await arena.inOrder([1, 0])]
    #expect(orders[0] != orders[1], "they do not compete")
    if let prizes = contest.prizes {
      for order in orders {
        #expect(order.outcomes.count { prizes.contains($0) } == 1, "one after the other: \(order.outcomes)")
      }
    }
    for stopped in contest.isSymmetric ? [0] : [0, 1] {
      var place = 0
      while let end = try await arena.interleaved(stopping: stopped, at: place) {
        #expect(
          orders.contains(end),
          "step \(stopped) stopped before statement \(place): \(end.outcomes), \(end.differences(from: orders))"
        )
        place += 1
      }
      // At least the begin, a read, a write and the commit.
      #expect(place >= 4, "step \(stopped) has \(place) statements")
    }
    await arena.close()
  }
}

/// The results of two steps.
private struct StepEnd: Equatable, Sendable {
  /// The outcome of each, in the order of the contest.
  let outcomes: [String]
  /// The rows of each table as texts, without the numbers that a database assigns with gaps.
  let rows: [String: [String]]

  /// For each of the orders, the tables with different rows.
  func differences(from orders: [StepEnd]) -> [[String]] {
    orders.map { order in rows.keys.filter { rows[$0] != order.rows[$0] }.sorted() }
  }
}

/// A database, the two processes that run the steps of a contest on it, and the means to restore it.
private final class StepArena: Sendable {
  private let folder: TemporaryFolder
  private let backend: StorageBackend
  private let contest: StepContest
  private let processes: [Storage]
  private let watches = [StepWatch(), StepWatch()]
  private let bystander: SQLDatabase
  private let columns: [String: [String]]
  private let start: [String: [[SQLValue]]]

  init(_ contest: StepContest, _ backend: StorageBackend) async throws {
    folder = try TemporaryFolder()
    self.backend = backend
    self.contest = contest
    var location = try backend.location(in: folder)
    // Deadlocked steps are detected early.
    if case .server(let address) = location {
      location = .server(address + " options='-c deadlock_timeout=20ms'")
    }
    let place = location
    processes = try watches.map { watch in
      try Storage.open(place) { _ in watch.pass() }.authenticatingRows(with: .forTests)
    }
    bystander = try SQLDatabase.beside(place)
    try await contest.prepare(processes[0])
    (columns, start) = try await bystander.read { connection in
      let columns = try connection.columnsOfTables()
      return (columns, try connection.allRows(columns))
    }.value
  }

  func close() async {
    for process in processes { await process.close() }
    await bystander.close()
  }

  /// Runs one step after the other.
  func inOrder(_ order: [Int]) async throws -> StepEnd {
    try await restore()
    var outcomes = ["", ""]
    for index in order { outcomes[index] = try await contest.steps[index](processes[index]) }
    return try await end(outcomes)
  }

  /// Stops one step before a statement, and runs the other as far as it can before the first continues.
  ///
  /// - Returns: The results; `nil` if the step has no statement of this number.
  func interleaved(stopping index: Int, at place: Int) async throws -> StepEnd? {
    try await restore()
    let (stopped, other) = (watches[index], watches[1 - index])
    let places = stopped.begin(stoppingAt: place)
    _ = other.begin()
    let first = run(index)
    guard await places.contains(true) else {
      _ = try await first.value
      return nil
    }
    let second = run(1 - index)
    let settled = await Result { try await settle(other, isHeldUp: place > 0) }
    stopped.goOn()
    let outcomes = [try await first.value, try await second.value]
    try settled.get()
    return try await end(index == 0 ? outcomes : outcomes.reversed())
  }

  private func run(_ index: Int) -> Task<String, any Error> {
    Task { [contest, processes, watches] in
      defer { watches[index].end() }
      return try await contest.steps[index](processes[index])
    }
  }

  /// Returns once a step has ended, or waits for a lock of the stopped one.
  private func settle(_ step: StepWatch, isHeldUp: Bool) async throws {
    var looks = 0
    while !step.hasEnded {
      if isHeldUp {
        switch backend {
        case .sqlite:
          // It waits for the writer's lock before its second statement; otherwise it would be there by now.
          if step.count == 1 { looks += 1 }
          if looks == 3 { return }
        case .postgreSQL:
          let isWaiting = try await bystander.read { connection in
            let waiting = try connection.row(
              """
              SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
              """
            ) { try $0.integer(0) }
            return waiting != 0
          }.value
          if isWaiting { return }
        }
      }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  private func end(_ outcomes: [String]) async throws -> StepEnd {
    let rows = try await bystander.read { [columns] in try $0.allRows(columns) }.value
    return StepEnd(
      outcomes: outcomes,
      rows: rows.reduce(into: [:]) { texts, table in
        let kept = (columns[table.key] ?? []).enumerated().filter { $1 != "number" }
        texts[table.key] = table.value.map { row in
          kept.map { "\($1) \(row[$0])" }.joined(separator: ", ")
        }.sorted()
      })
  }

  /// Restores the rows from before the steps, and runs the contest's reads in each process.
  private func restore() async throws {
    try await putBack()
    guard let reading = contest.reading else { return }
    for (process, watch) in zip(processes, watches) {
      // Clears the stop of the previous round.
      _ = watch.begin()
      try await reading(process)
    }
    let rows = try await bystander.read { [columns] in try $0.allRows(columns) }.value
    try #require(
      rows.mapValues { Set($0) } == start.mapValues { Set($0) },
      "what is written here has the other process forget what it keeps")
  }

  private func putBack() async throws {
    try await bystander.write { [columns, start] connection in
      let deferral =
        switch connection.dialect {
        case .sqlite: "PRAGMA defer_foreign_keys = ON"
        case .postgreSQL: "SET LOCAL session_replication_role = replica"
        }
      _ = try connection.execute(deferral)
      for (table, names) in columns {
        _ = try connection.execute("DELETE FROM \(table)")
        let values = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        for row in start[table] ?? [] {
          try connection.execute(
            "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(values))", row, changing: 1)
        }
      }
    }.value
  }
}

/// Counts the statements of a process, and stops it before one of them.
private final class StepWatch: Sendable {
  private struct State {
    var count = 0
    var place: Int?
    var hasEnded = false
    var tell: AsyncStream<Bool>.Continuation?
  }

  private let state = Mutex(State())
  private let barrier = DispatchSemaphore(value: 0)

  /// The number of statements that have begun.
  var count: Int { state.withLock { $0.count } }
  /// Indicates whether the step has ended.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Begins to count.
  ///
  /// - Returns: A stream that yields `true` once the step is stopped, and ends with the step.
  func begin(stoppingAt place: Int? = nil) -> AsyncStream<Bool> {
    let (stream, tell) = AsyncStream.makeStream(of: Bool.self)
    state.withLock { $0 = State(place: place, tell: tell) }
    return stream
  }

  /// Counts a statement before it runs, on the connection's own thread.
  func pass() {
    let tell = state.withLock { state -> AsyncStream<Bool>.Continuation? in
      defer { state.count += 1 }
      return state.count == state.place ? state.tell : nil
    }
    guard let tell else { return }
    tell.yield(true)
    barrier.wait()
  }

  /// Releases a stopped step.
  func goOn() { barrier.signal() }

  /// Records that the step has ended.
  func end() {
    let tell = state.withLock { state in
      state.hasEnded = true
      return state.tell
    }
    tell?.finish()
  }
}

extension SQLConnection {
  /// The columns of the tables, in order.
  fileprivate func columnsOfTables() throws -> [String: [String]] {
    let query =
      switch dialect {
      case .sqlite:
        """
        SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
        WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid
        """
      case .postgreSQL:
        """
        SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT) FROM information_schema.columns
        WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position
        """
      }
    var columns: [String: [String]] = [:]
    for (table, column) in try rows(query, [], { (try $0.text(0), try $0.text(1)) }) {
      columns[table, default: []].append(column)
    }
    return columns
  }

  /// The rows of all tables.
  fileprivate func allRows(_ columns: [String: [String]]) throws -> [String: [[SQLValue]]] {
    var found: [String: [[SQLValue]]] = [:]
    for (table, names) in columns {
      found[table] = try rows("SELECT \(names.joined(separator: ", ")) FROM \(table)") { row in
        names.indices.map { row[$0] }
      }
    }
    return found
  }
}

extension Result where Failure == any Error {
  /// Creates the result of an asynchronous body.
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
