import Foundation
import SignetSQLite
import SignetTestKit
import Testing

@Suite("Values, rows and statements", .timeLimit(.minutes(10)))
struct DatabaseTests {
  private let folder: TemporaryFolder
  private let database: Database

  init() throws {
    folder = try TemporaryFolder()
    database = try Database(path: folder.file("db"))
    try database.execute(
      script: """
        CREATE TABLE parent (id INTEGER PRIMARY KEY, note TEXT) STRICT;
        CREATE TABLE t (
          id INTEGER PRIMARY KEY, name TEXT UNIQUE, size INTEGER CHECK (size > 0), parent REFERENCES parent(id)
        );
        """)
  }

  @Test(
    "values of each storage class survive a round trip",
    arguments: [
      .null, .integer(.min), .integer(.max), .real(-0.5), .text(""), .text("ünï\0cödé 🗝"), .blob([]),
      .blob([0, 255, 0]),
    ] as [SQLiteValue])
  func roundTrip(_ value: SQLiteValue) throws {
    #expect(try database.query("SELECT ? AS v", value).first?["v"] == value)
  }

  @Test("columns are read by name and index; a wrong type is an error")
  func rows() throws {
    let row = try #require(
      try database.query("SELECT 1 AS i, 'x' AS t, x'0A' AS b, NULL AS n, 1.5 AS r").first)
    #expect(row.count == 5)
    #expect(row[0] == 1)
    #expect(row["t"] == "x")
    #expect(row["absent"] == nil)
    #expect(try row.integer("i") == 1)
    #expect(try row.text("t") == "x")
    #expect(try row.blob("b") == [10])
    #expect(try row.real("r") == 1.5)
    #expect(try row.optionalText("n") == nil)
    #expect(try row.optionalBlob("n") == nil)
    #expect(try row.optionalInteger("n") == nil)
    #expect(throws: SQLiteFailure.unexpectedValue(column: "t", expected: "INTEGER", found: "TEXT")) {
      try row.integer("t")
    }
    #expect(
      throws: SQLiteFailure.unexpectedValue(column: "absent", expected: "BLOB", found: "no such column")
    ) { try row.blob("absent") }
  }

  @Test("a cached statement sees the new columns after a change of the schema")
  func schemaChange() throws {
    try database.execute("INSERT INTO parent (id) VALUES (1)")
    #expect(try database.query("SELECT * FROM parent").first?.count == 2)
    try database.execute("ALTER TABLE parent ADD COLUMN extra TEXT")
    #expect(try database.query("SELECT * FROM parent").first?["extra"] == SQLiteValue.null)
  }

  @Test("the same SQL may be nested, and many statements are cached")
  func nested() throws {
    for id in 1...3 { try database.execute("INSERT INTO parent (id) VALUES (?)", .int(id)) }
    var pairs = 0
    try database.forEachRow("SELECT id FROM parent") { _ in
      try database.forEachRow("SELECT id FROM parent") { _ in pairs += 1 }
    }
    #expect(pairs == 9)
    for number in 0..<300 { #expect(try database.query("SELECT \(number)").count == 1) }
  }

  @Test("the counts of changes and the last rowid")
  func counts() throws {
    try database.execute("INSERT INTO parent (id) VALUES (7)")
    #expect(database.lastInsertedRowID == 7)
    try database.execute("INSERT INTO parent (id) VALUES (8)")
    try database.execute("DELETE FROM parent")
    #expect(database.changes == 2)
  }

  @Test("a constraint error names kind and columns, never the value")
  func constraints() throws {
    try database.execute("INSERT INTO t (name) VALUES (?)", "hunter2")
    let refusals: [(String, [SQLiteValue], SQLiteFailure.ConstraintKind, String)] = [
      ("INSERT INTO t (name) VALUES (?)", ["hunter2"], .unique, "t.name"),
      ("INSERT INTO t (size) VALUES (?)", [-1], .check, "size > 0"),
      ("INSERT INTO t (parent) VALUES (?)", [99], .foreignKey, ""),
      ("INSERT INTO t (id) VALUES (?)", [1], .primaryKey, "t.id"),
      ("INSERT INTO parent (note) VALUES (?)", [.blob(Array("hunter2".utf8))], .dataType, ""),
    ]
    for (sql, values, kind, columns) in refusals {
      let failure = #expect(throws: SQLiteFailure.self) { try database.execute(sql, values) }
      guard case .constraint(kind, columns, let code)? = failure else {
        Issue.record("\(sql) failed with \(String(describing: failure))")
        continue
      }
      #expect(code & 0xFF == 19)
      #expect(failure?.description.contains("hunter2") == false)
    }
  }

  @Test(
    "SQL that is not valid, empty or more than one statement", arguments: ["SELEC", "", "SELECT 1; SELECT 2"])
  func invalid(_ sql: String) {
    let failure = #expect(throws: SQLiteFailure.self) { try database.execute(sql) }
    guard case .invalidStatement? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  @Test("double quotes do not make strings, and the connection is set up as documented")
  func settings() throws {
    #expect(throws: SQLiteFailure.self) { try database.query("SELECT \"no such column\"") }
    let expected: [String: SQLiteValue] = [
      "journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "foreign_keys": 1, "trusted_schema": 0,
      "cell_size_check": 1,
    ]
    for (pragma, value) in expected {
      #expect(try database.query("PRAGMA \(pragma)").first?[0] == value, "\(pragma)")
    }
    #expect(throws: SQLiteFailure.self, "defensive: the schema cannot be rewritten") {
      try database.execute(script: "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema")
    }
  }

  @Test("deleted content is gone from database and log after a checkpoint")
  func secureDelete() throws {
    let marker = Array("marker-that-must-vanish".utf8)
    try database.execute("INSERT INTO t (parent, name) VALUES (NULL, ?)", .blob(marker))
    func occurs() throws -> Bool {
      for name in ["db", "db-wal"] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file(name)))
        if bytes.range(of: Data(marker)) != nil { return true }
      }
      return false
    }
    #expect(try occurs())
    try database.execute("DELETE FROM t")
    try database.checkpoint()
    #expect(try !occurs())
  }

  @Test("too few or too many values end the process with a message")
  func wrongCount() async {
    await #expect(processExitsWith: .failure) {
      let database = try Database(path: TemporaryFolder().file("db"))
      try database.execute("SELECT ?, ?", 1)
    }
  }
}
