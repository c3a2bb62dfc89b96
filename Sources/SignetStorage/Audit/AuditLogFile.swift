import SignetSQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The audit log in an SQLite file, read without a server: from the file of a running or stopped server, or from a copy.
///
/// The file and the files next to it are not changed.
package struct AuditLogFile: Sendable {
  private let path: String

  /// Makes a reader of a file, which is not opened yet.
  package init(database path: String) { self.path = path }

  /// Verifies each hash chain from the first entry to the last, or to the first entry that does not fit.
  ///
  /// - Parameter expectedHeads: See ``AuditVerification/init(expectedHeads:)``.
  /// - Returns: The report.
  /// - Throws: ``StorageFailure`` if the file cannot be read at all.
  package func verify(expectedHeads: [[UInt8]] = []) throws(StorageFailure) -> AuditReport {
    do {
      return try withDatabase { database in
        var verification = AuditVerification(expectedHeads: expectedHeads)
        try database.forEachRow("SELECT lane, number, event, hash FROM audit ORDER BY number") { row in
          verification.verify(Self.entry(row))
        }
        return verification.report
      }
    } catch let failure as StorageFailure {
      throw failure
    } catch { throw StorageFailure(error) }
  }

  /// Returns an entry; `nil` for a row that no server can have written.
  private static func entry(_ row: Row) -> AuditEntry? {
    do throws(SQLiteFailure) {
      return AuditEntry(
        chain: try row.integer("lane"), number: try row.integer("number"), text: try row.text("event"),
        hash: try row.blob("hash"))
    } catch { return nil }
  }

  /// Opens the file in place if a server may be using it, and a copy of it otherwise.
  ///
  /// Even a read-only connection creates `-wal` and `-shm` files if they are missing, or fails if it may not.
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
    // Fails if the name exists already.
    try files.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    // The copy is in a private folder, so a failed removal is harmless.
    defer { do { try files.removeItem(at: folder) } catch { _ = error } }
    let copy = folder.appendingPathComponent("signet.sqlite").path
    try files.copyItem(atPath: original, toPath: copy)
    if files.fileExists(atPath: original + "-wal") {
      try files.copyItem(atPath: original + "-wal", toPath: copy + "-wal")
    }
    return try body(Database(path: copy, mode: .readWrite))
  }
}
