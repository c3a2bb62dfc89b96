import Dispatch
import SignetSQL
import SignetSystem
import Synchronization
import Testing

/// The common contract of SQLite and PostgreSQL.
@Suite(.timeLimit(.minutes(10))) struct SQLContractTests {
  @Test("values survive a round trip", arguments: Backend.here)
  func roundTrip(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    let integers: [Int64] = [0, 1, -1, .max, .min, 1 << 31, -(1 << 31) - 1]
    let texts = [
      "", "a", "é", "日本語", "\u{10FFFF}", "'; DROP TABLE items; --", String(repeating: "x", count: 100_000),
    ]
    let blobs: [[UInt8]] = [[], [0], [0, 1, 255], Array(repeating: 7, count: 70_000)]
    let reals = [0.0, -0.0, 1.5, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
    for index in 0..<7 {
      let (integer, text, blob, real) = (integers[index], texts[index], blobs[index % 4], reals[index])
      let row = try await database.write { connection in
        try connection.execute(
          "INSERT INTO items (id, amount, weight, content, note) VALUES ($5, $1, $2, $3, $4)",
          [.integer(integer), .real(real), .blob(blob), .text(text), .text("row \(index)")], changing: 1)
        return try connection.row(
          "SELECT amount, weight, content, note FROM items WHERE id = $1", [.text("row \(index)")]
        ) { $0 }
      }.value
      let found = try #require(row)
      #expect(try found.integer(0) == integer)
      #expect(try found.real(1).bitPattern == real.bitPattern || real == 0)
      #expect(try found.blob(2) == blob)
      #expect(try found.text(3) == text)
    }
  }

  @Test("NULL is neither zero nor empty", arguments: Backend.here)
  func null(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    let row = try await database.write { connection in
      try connection.execute(
        "INSERT INTO items (id, amount, weight, content, note) VALUES ($1, $2, $3, $4, $5)",
        ["a", 1, nil, nil, nil], changing: 1)
      return try connection.row("SELECT weight, content, note FROM items WHERE note IS NULL") { $0 }
    }.value
    let found = try #require(row)
    #expect(try found.optional(0, found.real) == nil)
    #expect(try found.optional(1, found.blob) == nil)
    #expect(try found.optional(2, found.text) == nil)
    #expect(throws: SQLFailure.unexpectedValue(column: 2, expected: "text", found: "NULL")) {
      try found.text(2)
    }
  }

  @Test("text with a NUL and a NaN are refused", arguments: Backend.here)
  func unsuitable(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    #expect(
      await failure { try await database.write { try $0.add("a\0b", 1) }.value }
        == .unsuitableValue(parameter: 1, reason: "is text with a NUL"))
    let nan = await failure {
      try await database.write {
        try $0.execute("INSERT INTO items (id, amount, weight) VALUES ('a', 1, $1)", [.real(.nan)])
      }.value
    }
    #expect(nan == .unsuitableValue(parameter: 1, reason: "is not a number (NaN)"))
  }

  @Test("a value of another type than the column's is refused", arguments: Backend.here)
  func types(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    let found = await failure {
      try await database.write {
        try $0.execute("INSERT INTO items (id, amount) VALUES ('a', $1)", [.text("many")])
      }.value
    }
    #expect(found == .constraint(.dataType, name: found?.constraintName ?? ""))
  }

  @Test("a conditional write says how many rows it changed", arguments: Backend.here)
  func conditional(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    let counts = try await database.write { connection in
      try connection.add("a", 5)
      let raise = "UPDATE items SET amount = $1 WHERE id = $2 AND amount < $1"
      let insert = "INSERT INTO items (id, amount) VALUES ($1, 0) ON CONFLICT (id) DO NOTHING"
      return [
        try connection.execute(raise, [6, "a"]), try connection.execute(raise, [6, "a"]),
        try connection.execute(raise, [7, "b"]), try connection.execute(insert, ["a"]),
        try connection.execute(insert, ["b"]), try connection.execute("SELECT id FROM items"),
        try connection.rows("UPDATE items SET amount = amount + 1 RETURNING amount") { try $0.integer(0) }
          .count,
        try connection.execute("DELETE FROM items"),
      ]
    }.value
    #expect(counts == [1, 0, 0, 0, 1, 0, 2, 2])
  }

  @Test("a change of an unexpected number of rows fails the step", arguments: Backend.here)
  func unexpectedChange(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    let found = await failure {
      try await database.write { connection in
        try connection.add("a", 1)
        try connection.execute("UPDATE items SET amount = 2 WHERE id = 'b'", changing: 1)
      }.value
    }
    #expect(found == .unexpectedChange(expected: 1, found: 0))
    #expect(try await database.read { try $0.amount("a") }.value == nil)
  }

  @Test("constraints fail by their kind", arguments: Backend.here)
  func constraints(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    try await database.write { try $0.add("a", 1) }.value
    let statements: [(String, SQLFailure.Constraint)] = [
      ("INSERT INTO items (id, amount) VALUES ('a', 2)", .unique),
      ("INSERT INTO items (id) VALUES ('b')", .notNull),
      ("INSERT INTO owners (item_id, name) VALUES ('none', 'x')", .foreignKey),
      ("INSERT INTO schema_version (one, version) VALUES (2, 2)", .check),
    ]
    for (sql, kind) in statements {
      let found = await failure { try await database.write { try $0.execute(sql) }.value }
      guard case .constraint(kind, _)? = found else {
        Issue.record("\(sql) failed with \(String(describing: found))")
        continue
      }
      #expect(!"\(SQLFailure.constraint(kind, name: ""))".contains("'a'"))
    }
  }

  @Test("after a failed statement the step accepts no more statements", arguments: Backend.here)
  func failedStatement(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    try await database.write { try $0.add("a", 1) }.value
    let swallowed = await failure {
      try await database.write { connection in
        try connection.add("b", 1)
        do { try connection.add("a", 2) } catch {}
      }.value
    }
    guard case .constraint(.unique, _)? = swallowed else {
      Issue.record("\(String(describing: swallowed))")
      return
    }
    let second = await failure {
      try await database.write { connection in
        do { try connection.add("a", 2) } catch {}
        try connection.add("c", 1)
      }.value
    }
    #expect(second == .stepFailed)
    #expect(try await database.read { try $0.rows("SELECT id FROM items") { try $0.text(0) } }.value == ["a"])
  }

  @Test("an error in a step rolls back that step only", arguments: Backend.here)
  func thrown(_ backend: Backend) async throws {
    struct Refusal: Error {}
    let database = try SQLFixture(backend).open()
    let steps = (0..<100).map { index in
      database.write { connection in
        try connection.add("\(index)", 1)
        if index % 3 == 0 { throw Refusal() }
      }
    }
    var refused = 0
    for step in steps { do { try await step.value } catch is Refusal { refused += 1 } }
    #expect(refused == 34)
    let count = try await database.read {
      try $0.row("SELECT count(*) FROM items WHERE CAST(id AS BIGINT) % 3 > 0") { try $0.int(0) }
    }.value
    let all = try await database.read { try $0.row("SELECT count(*) FROM items") { try $0.int(0) } }.value
    #expect(count == 66 && all == 66)
  }

  @Test("mutually conflicting steps all complete", arguments: Backend.here)
  func crowd(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open(connections: 8)
    let steps = (0..<2_000).map { _ in
      database.write { connection in
        let count = try connection.row("SELECT count(*) FROM items") { try $0.integer(0) } ?? 0
        try connection.add("\(count)", count)
        return count
      }
    }
    var counts: [Int64] = []
    for step in steps { counts.append(try await step.value) }
    #expect(counts.sorted() == Array(0..<2_000))
  }

  @Test("a step that another one is in the way of in each run finally runs alone", arguments: Backend.here)
  func alone(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    let others = Mutex<[Completion<Void>]>([])
    let add = { @Sendable (connection: SQLConnection, id: String, between: () -> Void) throws in
      let count = try connection.row("SELECT count(*) FROM items") { try $0.integer(0) } ?? 0
      between()
      try connection.add(id, count)
    }
    try await database.write { connection in
      try add(connection, "step") {
        // The other step commits between this one's reading and writing. If this one is alone, the other one waits for it.
        let hasEnded = DispatchSemaphore(value: 0)
        let number = others.withLock(\.count)
        let other = database.write { connection in try add(connection, "other \(number)") {} }
          .map { _ in _ = hasEnded.signal() }
        others.withLock { $0.append(other) }
        _ = hasEnded.wait(timeout: .now() + .milliseconds(1_500))
      }
    }.value
    for other in others.withLock({ $0 }) { try await other.value }
    let count = try await database.read { try $0.row("SELECT count(*) FROM items") { try $0.integer(0) } }
      .value
    #expect(count == Int64(others.withLock(\.count) + 1))
    #expect(others.withLock(\.count) > 1 || backend == .sqlite)
  }

  @Test("a reading step changes nothing", arguments: Backend.here)
  func reading(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    #expect(await failure { try await database.read { try $0.add("a", 1) }.value } == .readOnly)
  }

  @Test("text is sorted by bytes", arguments: Backend.here)
  func order(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    let ids = try await database.write { connection in
      for id in ["b", "B", "a", "é", "Z", "_"] { try connection.add(id, 1) }
      return try connection.rows("SELECT id FROM items ORDER BY id") { try $0.text(0) }
    }.value
    #expect(ids == ["B", "Z", "_", "a", "b", "é"])
  }

  @Test("more statements than the cache holds work", arguments: Backend.here)
  func statementCache(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open(connections: 1)
    for round in 0..<2 {
      let sum = try await database.write { connection in
        try (0..<600).reduce(0) { sum, index in
          try sum + (connection.row("SELECT CAST(\(index) AS BIGINT)") { try $0.int(0) } ?? 0)
        }
      }.value
      #expect(sum == 600 * 599 / 2, "round \(round)")
    }
  }

  @Test("a query nested in one of the same text reads its own rows", arguments: Backend.here)
  func nested(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    let pairs = try await database.write { connection in
      for id in ["a", "b"] { try connection.add(id, 1) }
      let sql = "SELECT id FROM items ORDER BY id"
      return try connection.rows(sql) { outer in
        try connection.rows(sql) { try outer.text(0) + $0.text(0) }
      }.flatMap { $0 }
    }.value
    #expect(pairs == ["aa", "ab", "ba", "bb"])
  }

  @Test("rows numbered by the database have unique numbers", arguments: Backend.here)
  func numbers(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    let numbers = try await database.write { connection in
      try (0..<3).map { index in
        try connection.row(
          "INSERT INTO events (sequence, text) VALUES ($1, '') RETURNING number", [.int(index)]
        ) { try $0.int(0) }
      }
    }.value
    #expect(Set(numbers.compactMap { $0 }).count == 3)
  }

  @Test("values cached in a transaction are dropped at its rollback", arguments: Backend.here)
  func transactionLocal(_ backend: Backend) async throws {
    struct Refusal: Error {}
    let database = try SQLFixture(backend).open(connections: 1)
    let tail = TransactionLocal<Int>()
    let steps = (0..<50).map { index in
      database.write { connection in
        let last = try connection.local(tail) {
          try connection.row("SELECT coalesce(max(sequence), 0) FROM events") { try $0.int(0) } ?? 0
        }
        try connection.execute(
          "INSERT INTO events (sequence, text) VALUES ($1, 'x')", [.int(last + 1)], changing: 1)
        connection.setLocal(tail, to: last + 1)
        if index % 7 == 0 { throw Refusal() }
      }
    }
    for step in steps { do { try await step.value } catch is Refusal {} }
    let found = try await database.read {
      try $0.rows("SELECT sequence FROM events ORDER BY sequence") { try $0.int(0) }
    }.value
    #expect(found == Array(1...42))
  }

  @Test("an identifier's type extends to the column", arguments: Backend.here)
  func representable(_ backend: Backend) async throws {
    enum Colour: String, SQLRepresentable { case red, green }
    let database = try SQLFixture(backend).open()
    let row = try await database.write { connection in
      try connection.execute(
        "INSERT INTO items (id, amount, note) VALUES ('a', 1, $1)", [.of(Colour.green)], changing: 1)
      return try connection.row("SELECT note, id FROM items") { $0 }
    }.value
    #expect(try row?.value(0) == Colour.green)
    #expect(throws: SQLFailure.self) { try row?.value(1, as: Colour.self) }
  }

  @Test("a table numbered by lane has rows in each writer's lane", arguments: Backend.here)
  func lanes(_ backend: Backend) async throws {
    let log = SQLTable("log", [.text("text")], isNumberedByLane: true)
    let database = try SQLFixture(backend).open(SQLSchema(baseline: [log]))
    #expect(try await database.read { try $0.lanes(of: "log") }.value == [])
    let steps = (0..<8).map { index in
      database.write { connection in
        let lane = SQLValue.integer(connection.lane)
        let last = try connection.row(
          "SELECT coalesce(max(number), 0) FROM log WHERE lane = $1", [lane]
        ) { try $0.integer(0) }
        try connection.execute(
          "INSERT INTO log (lane, number, text) VALUES ($1, $2, $3)",
          [lane, .integer((last ?? 0) + 1), .text("\(index)")], changing: 1)
      }
    }
    for step in steps { try await step.value }
    let lanes = try await database.read { try $0.lanes(of: "log") }.value
    let found = try await database.read { connection in
      try connection.rows("SELECT lane, number FROM log ORDER BY lane, number") {
        [try $0.integer(0), try $0.integer(1)]
      }
    }.value
    #expect(found.count == 8)
    #expect(lanes == Set(found.map { $0[0] }).sorted())
    for lane in lanes {
      let numbers = found.filter { $0[0] == lane }.map { $0[1] }
      #expect(numbers == Array(1...Int64(numbers.count)))
    }
    let twice = await failure {
      try await database.write { connection in
        try connection.execute(
          "INSERT INTO log (lane, number, text) VALUES ($1, 1, 'again')", [.integer(lanes[0])], changing: 1)
      }.value
    }
    guard case .constraint(.unique, _) = twice else {
      Issue.record("a number was given twice: \(String(describing: twice))")
      return
    }
  }

  @Test("the columns of a second table are read as a separate row", arguments: Backend.here)
  func joined(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    let rows = try await database.write { connection in
      try connection.add("a", 7)
      try connection.add("b", 8)
      try connection.execute("INSERT INTO owners (item_id, name) VALUES ('a', 'alice')", changing: 1)
      return try connection.rows(
        """
        SELECT items.id, owners.name, owners.item_id FROM items LEFT JOIN owners ON owners.item_id = items.id
        ORDER BY items.id
        """
      ) { $0.columns(from: 1) }
    }.value
    #expect(rows.map(\.count) == [2, 2])
    #expect(try rows.map { try $0.optional(0, $0.text) } == ["alice", nil])
    #expect(try rows.map { try $0.optional(1, $0.text) } == ["a", nil])
    #expect(throws: SQLFailure.unexpectedValue(column: 0, expected: "an integer", found: "text")) {
      try rows[0].integer(0)
    }
  }

  @Test("a database in memory reads and writes on one connection")
  func memory() async throws {
    let database = try SQLDatabase(.memory, schema: SQLFixture.schema)
    let write = database.write { try $0.add("a", 1) }
    let read = database.read { try $0.amount("a") }
    try await write.value
    #expect(try await read.value == 1)
    #expect(await failure { try await database.read { try $0.add("b", 1) }.value } == .readOnly)
  }
}
