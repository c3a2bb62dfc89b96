import SignetSQL
import SignetSystem
import Synchronization
import Testing

/// Two connections at once: at each statement of one step, a step of another process begins.
@Suite(.timeLimit(.minutes(10))) struct SQLInterleavingTests {
  /// Begins `other` before the statement with a number, and gives it time to end or to wait for a lock.
  private final class Intruder: Sendable {
    private let number: Int
    private let other: Mutex<Completion?>
    private let count = Mutex(0)
    private let begin: @Sendable () -> SQLCompletion
    typealias Completion = SQLCompletion

    init(at number: Int, _ begin: @escaping @Sendable () -> SQLCompletion) {
      self.number = number
      self.begin = begin
      other = Mutex(nil)
    }

    var observer: SQLObserver {
      SQLObserver { [self] _ in
        let index = count.withLock { count in
          defer { count += 1 }
          return count
        }
        guard index == number else { return }
        let completion = begin()
        other.withLock { $0 = completion }
        completion.wait(milliseconds: 60)
      }
    }

    /// Returns the other step's end; `nil` if the first had fewer statements.
    func end() async throws -> Bool? { try await other.withLock { $0 }?.value }
  }

  private static let places = 0..<6

  @Test("of two steps that need the same row, one gets it", arguments: Backend.here, places)
  func oneWinner(_ backend: Backend, _ place: Int) async throws {
    let fixture = try SQLFixture(backend)
    let second = try fixture.open()
    try await second.write { try $0.add("counter", 0) }.value
    let take: @Sendable (SQLConnection) throws -> Bool = { connection in
      guard try connection.amount("counter") == 0 else { return false }
      return try connection.execute("UPDATE items SET amount = 1 WHERE id = 'counter' AND amount = 0") == 1
    }
    let intruder = Intruder(at: place) { SQLCompletion(second.write(take)) }
    let first = try fixture.open(observer: intruder.observer)
    let won = try await first.write(take).value
    let other = try await intruder.end()
    // Every step begins and commits; the places in between are those of its statements.
    #expect(other != nil || place > 1)
    if let other { #expect(won != other) }
    #expect(try await second.read { try $0.amount("counter") }.value == 1)
  }

  @Test(
    "two steps that read each other's row cannot both change their own (write skew)", arguments: Backend.here,
    places)
  func writeSkew(_ backend: Backend, _ place: Int) async throws {
    let fixture = try SQLFixture(backend)
    let second = try fixture.open()
    try await second.write { connection in
      try connection.add("a", 1)
      try connection.add("b", 1)
    }.value
    let leave: @Sendable (SQLConnection, String) throws -> Bool = { connection, id in
      let present = try connection.rows("SELECT amount FROM items WHERE amount = 1") { try $0.integer(0) }
      guard present.count == 2 else { return false }
      return try connection.execute("UPDATE items SET amount = 0 WHERE id = $1", [.text(id)]) == 1
    }
    let intruder = Intruder(at: place) { SQLCompletion(second.write { try leave($0, "b") }) }
    let first = try fixture.open(observer: intruder.observer)
    let left = try await first.write { try leave($0, "a") }.value
    let other = try await intruder.end()
    #expect(other != nil || place > 1)
    if let other { #expect(left != other) }
    let present = try await second.read {
      try $0.rows("SELECT id FROM items WHERE amount = 1") { try $0.text(0) }.count
    }.value
    #expect(present == 1)
  }

  @Test("two appending steps get distinct numbers", arguments: Backend.here, places)
  func append(_ backend: Backend, _ place: Int) async throws {
    let fixture = try SQLFixture(backend)
    let second = try fixture.open()
    let append: @Sendable (SQLConnection) throws -> Bool = { connection in
      let last = try connection.row("SELECT coalesce(max(sequence), 0) FROM events") { try $0.int(0) } ?? 0
      try connection.execute(
        "INSERT INTO events (sequence, text) VALUES ($1, '')", [.int(last + 1)], changing: 1)
      return true
    }
    let intruder = Intruder(at: place) { SQLCompletion(second.write(append)) }
    let first = try fixture.open(observer: intruder.observer)
    _ = try await first.write(append).value
    let other = try await intruder.end()
    let found = try await second.read {
      try $0.rows("SELECT sequence FROM events ORDER BY sequence") { try $0.int(0) }
    }
    .value
    #expect(found == (other == nil ? [1] : [1, 2]))
  }

  @Test("rows read with a lock stay unchanged", arguments: Backend.here, places)
  func locked(_ backend: Backend, _ place: Int) async throws {
    let fixture = try SQLFixture(backend)
    let second = try fixture.open()
    try await second.write { try $0.add("a", 1) }.value
    let double: @Sendable (SQLConnection) throws -> Bool = { connection in
      let sql = "SELECT amount FROM items WHERE id = $1"
      let amount = try connection.lockedRow(sql, ["a"]) { try $0.integer(0) } ?? 0
      return try connection.execute("UPDATE items SET amount = $1 WHERE id = 'a'", [.integer(amount * 2)])
        == 1
    }
    let intruder = Intruder(at: place) { SQLCompletion(second.write(double)) }
    let first = try fixture.open(observer: intruder.observer)
    _ = try await first.write(double).value
    let other = try await intruder.end()
    #expect(try await second.read { try $0.amount("a") }.value == (other == nil ? 2 : 4))
  }

  @Test("fifty steps of two processes on one row lose no change", arguments: Backend.here)
  func crowd(_ backend: Backend) async throws {
    let fixture = try SQLFixture(backend)
    let databases = [try fixture.open(connections: 4), try fixture.open(connections: 4)]
    try await databases[0].write { try $0.add("sum", 0) }.value
    let steps = (0..<50).map { index in
      databases[index % 2].write { connection in
        let amount = try connection.amount("sum") ?? 0
        try connection.execute(
          "UPDATE items SET amount = $1 WHERE id = 'sum'", [.integer(amount + 1)], changing: 1)
      }
    }
    for step in steps { try await step.value }
    #expect(try await databases[0].read { try $0.amount("sum") }.value == 50)
  }
}
