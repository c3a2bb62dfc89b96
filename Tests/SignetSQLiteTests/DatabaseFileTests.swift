import Foundation
import SignetSQLite
import SignetTestKit
import Testing

@Suite("Files: permissions, refusals and versions", .timeLimit(.minutes(10)))
struct DatabaseFileTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("db") }

  init() throws { folder = try TemporaryFolder(mode: 0o777) }

  @Test("the file and its companions are private to the owner from their creation")
  func permissionsOfFiles() throws {
    let database = try Database(path: path)
    try database.execute(script: "CREATE TABLE t (n INTEGER)")
    for suffix in ["", "-wal", "-shm"] { #expect(permissions(of: path + suffix) == 0o600, "\(suffix)") }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["db", "db-shm", "db-wal"])
  }

  @Test("a missing folder, a missing file, a folder and a link each cannot be opened")
  func cannotOpen() throws {
    try FileManager.default.createDirectory(atPath: folder.file("folder"), withIntermediateDirectories: false)
    _ = try Database(path: folder.file("target"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link"), withDestinationPath: folder.file("target"))
    for (name, mode) in [
      ("missing/db", Database.Mode.readWriteCreate), ("missing", .readWrite), ("missing", .readOnly),
      ("folder", .readWriteCreate), ("link", .readWriteCreate),
    ] {
      let failure = #expect(throws: SQLiteFailure.self) { try Database(path: folder.file(name), mode: mode) }
      guard case .cannotOpen? = failure else {
        Issue.record("\(name): \(String(describing: failure))")
        continue
      }
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("missing")))
  }

  @Test("a backup of a file that another connection holds ends with busy, and works once it lets go")
  func backupOfHeldFile() throws {
    let holder = try Database(path: path)
    try holder.execute(script: "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (7)")
    // With a write-ahead log, readers would not wait for writers.
    _ = try holder.query("PRAGMA journal_mode = DELETE")
    let database = try Database(path: path, mode: .readOnly, busyTimeoutMilliseconds: 10)
    try holder.execute(script: "BEGIN EXCLUSIVE")
    let failure = #expect(throws: SQLiteFailure.self) {
      try database.backUp(to: folder.file("copy"), patience: .milliseconds(50))
    }
    guard case .busy? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    try holder.execute(script: "ROLLBACK")
    try database.backUp(to: folder.file("second"), patience: .milliseconds(50))
    let copy = try Database(path: folder.file("second"), mode: .readOnly)
    #expect(try copy.query("SELECT n FROM t").first?[0] == .integer(7))
  }

  @Test("another file and a damaged database are refused")
  func corrupt() throws {
    try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: path))
    #expect(throws: SQLiteFailure.corrupt(extendedCode: 26)) { try Database(path: path) }
    #expect(throws: SQLiteFailure.corrupt(extendedCode: 26)) { try Database(path: path, mode: .readOnly) }

    let damaged = folder.file("damaged")
    do {
      let database = try Database(path: damaged)
      try database.execute(
        script: "CREATE TABLE t (n INTEGER); CREATE INDEX i ON t (n); INSERT INTO t VALUES (1)")
      try database.checkpoint()
    }
    var bytes = try Data(contentsOf: URL(fileURLWithPath: damaged))
    #expect(bytes.count == 3 * 4096)
    bytes.replaceSubrange(4096..<8192, with: Data(repeating: 0xA5, count: 4096))
    try bytes.write(to: URL(fileURLWithPath: damaged))
    let failure = #expect(throws: SQLiteFailure.self) {
      try Database(path: damaged).query("SELECT n FROM t NOT INDEXED")
    }
    guard case .corrupt? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  @Test("in a read-only folder a file can be neither created nor written")
  func readOnly() async throws {
    let path = path
    do { try Database(path: path).execute(script: "CREATE TABLE t (n INTEGER)") }
    chmod(path, 0o444)
    chmod(folder.path, 0o555)
    await #expect(processExitsWith: .success) { [path = path as String] in
      dropPrivileges()
      do {
        _ = try Database(path: path + "-another")
        exit(1)
      } catch SQLiteFailure.cannotOpen(_, EACCES) {}
      do {
        try Database(path: path).execute("INSERT INTO t VALUES (1)")
        exit(2)
      } catch SQLiteFailure.readOnly {} catch SQLiteFailure.cannotOpen {}
    }
    chmod(folder.path, 0o777)
  }

  @Test("a connection for reading cannot write")
  func readOnlyMode() throws {
    let writer = try Database(path: path)
    try writer.execute(script: "CREATE TABLE t (n INTEGER)")
    let reader = try Database(path: path, mode: .readOnly)
    #expect(try reader.query("SELECT * FROM t").isEmpty)
    #expect(throws: SQLiteFailure.readOnly(extendedCode: 8)) {
      try reader.execute("INSERT INTO t VALUES (1)")
    }
  }

  @Test(
    "a full disk", .enabled(if: TinyDisk.isPossible, "mounting a small disk needs root"))
  func fullDisk() throws {
    let disk = try TinyDisk(kilobytes: 256)
    let database = try Database(path: disk.folder.file("db"))
    try database.execute(script: "CREATE TABLE t (b BLOB)")
    try database.execute("INSERT INTO t VALUES (?)", .blob([1]))
    let failure = #expect(throws: SQLiteFailure.self) {
      for _ in 0..<100 {
        try database.execute("INSERT INTO t VALUES (?)", .blob([UInt8](repeating: 7, count: 10_000)))
      }
    }
    guard case .diskFull? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(try database.query("SELECT b FROM t WHERE length(b) = 1").count == 1, "what was there is there")
  }

  @Test("migrations run once each, all or none; a newer database is refused and left alone")
  func migrations() throws {
    let first = Migration(version: 1, sql: "CREATE TABLE a (n INTEGER); INSERT INTO a VALUES (1)")
    let second = Migration(version: 2, sql: "CREATE TABLE b (n INTEGER)")
    let broken = Migration(version: 3, sql: "CREATE TABLE c (n INTEGER); CREATE TABLE a (n INTEGER)")
    let database = try Database(path: path)
    #expect(try database.schemaVersion() == 0)
    try database.migrate([first])
    try database.migrate([first, second])
    try database.migrate([first, second])
    #expect(try database.query("SELECT n FROM a").count == 1)
    #expect(throws: SQLiteFailure.self) { try database.migrate([first, second, broken]) }
    #expect(try database.schemaVersion() == 2)
    #expect(throws: SQLiteFailure.self) { try database.query("SELECT n FROM c") }
    let failure = #expect(throws: SQLiteFailure.tooNew(found: 2, supported: 1)) {
      try database.migrate([first])
    }
    #expect(failure?.description.contains("install the newer program") == true)
  }

  @Test("a negative version is refused, too")
  func negativeVersion() throws {
    let database = try Database(path: path)
    try database.execute(script: "PRAGMA user_version = -5")
    #expect(throws: SQLiteFailure.tooNew(found: -5, supported: 1)) {
      try database.migrate([Migration(version: 1, sql: "CREATE TABLE a (n INTEGER)")])
    }
  }
}
