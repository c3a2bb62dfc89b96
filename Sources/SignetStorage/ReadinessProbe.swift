import SignetSQL
import SignetSQLite
import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A check that a database can be read and written.
protocol ReadinessProbe: Sendable {
  /// Reads, and makes a durable change that has no effect on other steps and is kept until `time`.
  func check(at time: Int64) async throws(StorageFailure)
}

/// The id of the probe's row in the table of request ids; real ids are random.
private let probeID = Array("signet readiness".utf8)

/// A probe of a file, with a new connection each time: one that has been open for long may still cache what the file has lost.
actor FileProbe: ReadinessProbe {
  /// The time that another process may hold the database, in milliseconds.
  private static let busyTimeout = 5_000
  /// The largest file that is checked completely, in pages; in a larger one, one row of each table is read.
  private static let wholePageCount: Int64 = 4_096

  private let executor = BlockingExecutor(label: "signet.storage.probe")
  private let path: String
  private let file: FileIdentity?

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Makes a probe of the file that has this path now.
  init(path: String) {
    self.path = path
    file = FileIdentity(path)
  }

  func check(at time: Int64) throws(StorageFailure) {
    guard FileIdentity(path) == file else {
      throw .failed(detail: "another file has replaced the database; restart the server")
    }
    do {
      let database = try Database(path: path, mode: .readWrite, busyTimeoutMilliseconds: Self.busyTimeout)
      try Self.read(database)
      try database.transaction {
        try database.execute("DELETE FROM requests WHERE container = '' AND id = ?", .blob(probeID))
        try database.execute(
          "INSERT INTO requests (id, container, expires) VALUES (?, '', ?)", .blob(probeID), .integer(time))
      }
    } catch { throw StorageFailure(error) }
  }

  private static func read(_ database: Database) throws {
    let size = try database.query("PRAGMA page_count").first?[0]
    if case .integer(let count)? = size, count <= wholePageCount {
      guard case .text(let verdict)? = try database.query("PRAGMA quick_check(1)").first?[0], verdict == "ok"
      else {
        throw StorageFailure.failed(detail: "the file is damaged; restore it from a backup")
      }
      return
    }
    for table in try database.query(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    {
      let name = try table.text("name").replacing("\"", with: "\"\"")
      _ = try database.query("SELECT 1 FROM \"\(name)\" LIMIT 1")
    }
  }
}

/// The identity of the file behind a path.
private struct FileIdentity: Equatable {
  let device: UInt64
  let number: UInt64

  /// Reads the identity; `nil` if there is no file.
  init?(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(truncatingIfNeeded: status.st_ino)
  }
}

/// A probe of a database server, with a new connection each time: those that serve may all be busy, or know a table that is gone.
actor ServerProbe: ReadinessProbe {
  private let executor = BlockingExecutor(label: "signet.storage.probe")
  private let database: PostgreSQLProbe

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Makes a probe of the tables that are at this address now; it blocks.
  init(address: String) throws {
    database = try PostgreSQLProbe(address, at: Schema.tables)
  }

  func check(at time: Int64) throws(StorageFailure) {
    let missing: String?
    do {
      missing = try database.check { connection in
        // Several processes may probe at the same time.
        try connection.execute(
          """
          INSERT INTO requests (id, container, expires) VALUES ($1, '', $2)
            ON CONFLICT (container, id) DO UPDATE SET expires = excluded.expires
          """, [.blob(probeID), .integer(time)], changing: 1)
      }
    } catch { throw StorageFailure(error) }
    guard let missing else { return }
    throw .failed(
      detail: "the table \"\(missing)\" is missing or was replaced; restart the server")
  }
}

/// A probe of an in-memory database, which has one connection.
struct MemoryProbe: ReadinessProbe {
  let database: SQLDatabase

  func check(at time: Int64) async throws(StorageFailure) {
    let change: @Sendable (SQLConnection) throws -> Void = { connection in
      _ = try connection.execute("DELETE FROM requests WHERE container = '' AND id = $1", [.blob(probeID)])
      _ = try connection.execute(
        "INSERT INTO requests (id, container, expires) VALUES ($1, '', $2)", [.blob(probeID), .integer(time)])
    }
    do { try await database.write(change).value } catch { throw StorageFailure(error) }
  }
}
