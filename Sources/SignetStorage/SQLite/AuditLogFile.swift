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
  /// What the verification of a log found.
  public struct Report: Hashable, Sendable {
    /// How many entries, from the first on, are as they were written.
    public var count: Int64 = 0
    /// The hash of the last of them, 32 bytes; zeros for none.
    public var head = AuditChain().hash
    /// The number of the first entry that was changed, removed or inserted; `nil` for none.
    public var firstBadEntry: Int64?
    /// Whether a hash was given that no good entry has.
    public var lacksKeptHead = false
    /// The number of the entry with the given hash; `nil` where none was given or found.
    public var keptHeadNumber: Int64?

    /// Whether nothing is wrong.
    public var isIntact: Bool { firstBadEntry == nil && !lacksKeptHead }
  }

  private let path: String

  /// Names the file; nothing is opened yet.
  public init(database path: String) { self.path = path }

  /// Follows the hash chain from the first entry to the last, or to the first that does not fit.
  ///
  /// - Parameter head: A hash that an earlier report gave, kept where nobody who can change the file can change it;
  ///   32 bytes. Without one, entries missing at the end are not noticed.
  /// - Returns: What was found.
  /// - Throws: ``StorageFailure`` where the file can't be read at all.
  public func verify(head: [UInt8]? = nil) throws(StorageFailure) -> Report {
    do {
      return try withDatabase { try Self.report($0, head) }
    } catch let failure as StorageFailure {
      throw failure
    } catch { throw StorageFailure(error) }
  }

  private static func report(_ database: Database, _ head: [UInt8]?) throws -> Report {
    var report = Report()
    var chain = AuditChain()
    report.lacksKeptHead = head != nil
    if head == chain.hash { (report.keptHeadNumber, report.lacksKeptHead) = (0, false) }
    try database.forEachRow("SELECT number, event, hash FROM audit ORDER BY number") { row in
      guard report.firstBadEntry == nil else { return }
      guard let entry = entry(row), chain.verify(entry) else {
        report.firstBadEntry = chain.number + 1
        return
      }
      (report.count, report.head) = (chain.number, chain.hash)
      if chain.hash == head { (report.keptHeadNumber, report.lacksKeptHead) = (chain.number, false) }
    }
    return report
  }

  /// An entry; `nil` for a row that no server wrote.
  private static func entry(_ row: Row) -> AuditEntry? {
    do { return try AuditEntry(row) } catch { return nil }
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
