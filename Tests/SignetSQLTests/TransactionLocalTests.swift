import Dispatch
import SignetSQL
import SignetSystem
import Synchronization
import Testing

/// A connection's cache of read values, and the times when it reads them again.
@Suite(.timeLimit(.minutes(10))) struct TransactionLocalTests {
  /// An amount in a step's view, and whether the step has read it from the table.
  private struct Look: Equatable, Sendable {
    let amount: Int64
    let isRead: Bool
  }

  private struct Refusal: Error {}

  private static let kept = TransactionLocal<Int64>(isRetained: true)

  private static let look: @Sendable (SQLConnection) throws -> Look = { connection in
    var isRead = false
    let amount = try connection.local(kept) {
      isRead = true
      return try connection.amount("a") ?? 0
    }
    return Look(amount: amount, isRead: isRead)
  }

  /// Changes the amount and its cached value.
  private static func set(_ amount: Int64) -> @Sendable (SQLConnection) throws -> Void {
    { connection in
      try connection.execute("UPDATE items SET amount = $1 WHERE id = 'a'", [.integer(amount)], changing: 1)
      connection.setLocal(kept, to: amount)
    }
  }

  /// The amount 1, which a step has read.
  private static func begin(_ backend: Backend, _ observer: SQLObserver? = nil) async throws -> (
    fixture: SQLFixture, database: SQLDatabase
  ) {
    let fixture = try SQLFixture(backend)
    let database = try fixture.open(connections: 1, observer: observer)
    try await database.write { try $0.add("a", 1) }.value
    #expect(try await database.write(look).value == Look(amount: 1, isRead: true))
    return (fixture, database)
  }

  @Test(
    "a cached value survives commits of its own connection if the database reports those of others",
    arguments: Backend.here)
  func stays(_ backend: Backend) async throws {
    let (_, database) = try await Self.begin(backend)
    let isRead = backend == .postgreSQL
    #expect(try await database.write(Self.look).value == Look(amount: 1, isRead: isRead))
    try await database.write { try $0.add("b", 7) }.value
    #expect(try await database.write(Self.look).value == Look(amount: 1, isRead: isRead))
    try await database.write(Self.set(2)).value
    #expect(try await database.write(Self.look).value == Look(amount: 2, isRead: isRead))
  }

  @Test("a value that is not cached is read in each transaction", arguments: Backend.here)
  func passing(_ backend: Backend) async throws {
    let passing = TransactionLocal<Int64>()
    let (_, database) = try await Self.begin(backend)
    for _ in 0..<3 {
      let reads = try await database.write { connection in
        var reads = 0
        for _ in 0..<2 {
          _ = try connection.local(passing) {
            reads += 1
            return 1
          }
        }
        return reads
      }.value
      #expect(reads == 1)
    }
  }

  @Test("after a commit of another process the next step reads again", arguments: Backend.here)
  func others(_ backend: Backend) async throws {
    let (fixture, database) = try await Self.begin(backend)
    let other = try fixture.open(connections: 1)
    for amount in Int64(2)..<5 {
      try await other.write(Self.set(amount)).value
      #expect(try await database.write(Self.look).value == Look(amount: amount, isRead: true))
      #expect(
        try await database.write(Self.look).value == Look(amount: amount, isRead: backend == .postgreSQL))
    }
    // Any change invalidates the cache, even of another row.
    try await other.write { try $0.add("b", 7) }.value
    #expect(try await database.write(Self.look).value == Look(amount: 4, isRead: true))
  }

  @Test(
    "a commit of another process between two steps is noticed",
    arguments: Backend.here, ["BEGIN", "committed"])
  func between(_ backend: Backend, _ place: String) async throws {
    let intrusion = Mutex<(@Sendable () -> Void)?>(nil)
    let intrude: @Sendable () -> Void = {
      intrusion.withLock { body in
        defer { body = nil }
        return body
      }?()
    }
    let (fixture, database) = try await Self.begin(
      backend,
      SQLObserver(
        willExecute: { if $0 == place { intrude() } },
        didCommit: { if place == "committed" { intrude() } }))
    let other = try fixture.open(connections: 1)
    for amount in Int64(2)..<5 {
      let change: @Sendable () -> Void = {
        let ended = DispatchSemaphore(value: 0)
        other.write(Self.set(amount)).then { _ in ended.signal() }
        ended.wait()
      }
      if place == "committed" {
        intrusion.withLock { $0 = change }
        _ = try await database.write(Self.look).value
      } else {
        intrusion.withLock { $0 = change }
      }
      #expect(try await database.write(Self.look).value == Look(amount: amount, isRead: true))
    }
  }

  @Test("a failed step leaves no cached values", arguments: Backend.here)
  func failedStep(_ backend: Backend) async throws {
    let (_, database) = try await Self.begin(backend)
    await #expect(throws: Refusal.self) {
      try await database.write { connection in
        try Self.set(9)(connection)
        throw Refusal()
      }.value
    }
    #expect(try await database.write(Self.look).value == Look(amount: 1, isRead: true))
    // The body swallows the failure.
    let swallowed = await failure {
      try await database.write { connection in
        try Self.set(9)(connection)
        do { try connection.add("a", 2) } catch {}
      }.value
    }
    #expect(swallowed?.constraintName != nil)
    #expect(try await database.write(Self.look).value == Look(amount: 1, isRead: true))
  }

  @Test("a failed commit leaves no cached values of its steps", arguments: Backend.here)
  func failedCommit(_ backend: Backend) async throws {
    let isFailing = Mutex(false)
    let (_, database) = try await Self.begin(
      backend,
      SQLObserver(willExecute: { sql in
        if sql == "COMMIT", isFailing.withLock({ $0 }) { throw SQLFailure.full }
      }))
    isFailing.withLock { $0 = true }
    #expect(await failure { try await database.write(Self.set(9)).value } == .full)
    isFailing.withLock { $0 = false }
    #expect(try await database.write(Self.look).value == Look(amount: 1, isRead: true))
  }

  @Test(
    "a rolled-back step of a shared commit leaves no values", arguments: Backend.here)
  func undone(_ backend: Backend) async throws {
    let (_, database) = try await Self.begin(backend)
    // The steps behind it wait together; the first of them may run twice.
    let gate = DispatchSemaphore(value: 0)
    let first = database.write { _ in
      gate.wait()
      gate.signal()
    }
    let changed = database.write(Self.set(5))
    let refused = database.write { connection in
      try Self.set(7)(connection)
      throw Refusal()
    }
    let last = database.write(Self.look)
    gate.signal()
    try await first.value
    try await changed.value
    await #expect(throws: Refusal.self) { try await refused.value }
    #expect(try await last.value == Look(amount: 5, isRead: true))
    #expect(try await database.write(Self.look).value == Look(amount: 5, isRead: backend == .postgreSQL))
  }

  @Test("a read transaction begins without cached values", arguments: Backend.here)
  func readers(_ backend: Backend) async throws {
    let (fixture, database) = try await Self.begin(backend)
    let other = try fixture.open(connections: 1)
    for amount in Int64(2)..<5 {
      try await (amount == 3 ? other : database).write(Self.set(amount)).value
      #expect(try await database.read(Self.look).value == Look(amount: amount, isRead: true))
    }
  }

  @Test("a value dropped by a step is read again", arguments: Backend.here)
  func forgotten(_ backend: Backend) async throws {
    let (_, database) = try await Self.begin(backend)
    let looks = try await database.write { connection in
      connection.forgetLocals()
      return try [Self.look(connection), Self.look(connection)]
    }.value
    #expect(looks.map(\.isRead) == [true, false])
  }

  @Test("a new variable never has a released one's value", arguments: Backend.here)
  func names(_ backend: Backend) async throws {
    let (_, database) = try await Self.begin(backend)
    for round in 0..<200 {
      let name = TransactionLocal<Int>(isRetained: true)
      #expect(try await database.write { try $0.local(name) { round } }.value == round)
    }
  }
}
