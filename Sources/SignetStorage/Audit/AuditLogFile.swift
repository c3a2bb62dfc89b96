import SignetSQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The audit log in an SQLite file, read without a server: of a running server, of a stopped one, or of a copy.
///
/// Nothing in the file or beside it is changed.
public struct AuditLogFile: Sendable {
  private let path: String

  /// Names the file; nothing is opened yet.
  public init(database path: String) { self.path = path }

  /// Follows each hash chain from the first entry to the last, or to the first that does not fit.
  ///
  /// - Parameter keptHeads: As ``AuditVerification/init(keptHeads:)`` says.
  /// - Returns: What was found.
  /// - Throws: ``StorageFailure`` where the file can't be read at all.
  public func verify(keptHeads: [[UInt8]] = []) throws(StorageFailure) -> AuditReport {
    do {
      return try withDatabase { database in
        var verification = AuditVerification(keptHeads: keptHeads)
        try database.forEachRow("SELECT lane, number, event, hash FROM audit ORDER BY number") { row in
          verification.take(Self.entry(row))
        }
        return verification.report
      }
    } catch let failure as StorageFailure {
      throw failure
    } catch { throw StorageFailure(error) }
  }

  /// An entry; `nil` for a row that no server wrote.
  private static func entry(_ row: Row) -> AuditEntry? {
    do throws(SQLiteFailure) {
      return AuditEntry(
        chain: try row.integer("lane"), number: try row.integer("number"), text: try row.text("event"),
        hash: try row.blob("hash"))
    } catch { return nil }
  }

  /// Opens the file in place while a server may be using it, and a copy of it otherwise.
  ///
  /// Even a connection that only reads makes `-wal` and `-shm` files where there are none, or fails where it may not.
  private func withDatabase<Value>(_ body: (Database) throws -> Value) throws -> Value {
    let files = FileManager.default
    guard files.fileExists(atPath: path) else { throw StorageFailure.failed(detail: "there is no \(path)") }
    let original = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    if files.fileExists(atPath: original + "-wal"), files.fileExists(atPath: original + "-shm"),
      files.isWritableFile(atPath: original + "-shm")
    {
      return try body(Database(path: original, mode: .readOnly))
    }
    let folder = files.temporaryDirectory.appending(path: "signet-audit-\(UUID().uuidString)")
    // Fails where there is anything of this name.
    try files.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    // The copy lies in a private folder, and nothing depends on its removal.
    defer { do { try files.removeItem(at: folder) } catch { _ = error } }
    let copy = folder.appendingPathComponent("signet.sqlite").path
    try files.copyItem(atPath: original, toPath: copy)
    if files.fileExists(atPath: original + "-wal") {
      try files.copyItem(atPath: original + "-wal", toPath: copy + "-wal")
    }
    return try body(Database(path: copy, mode: .readWrite))
  }
}
