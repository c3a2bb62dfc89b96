public import SignetCrypto
package import SignetSQLite

/// Storage in one SQLite file: for one machine, and any number of processes on it.
///
/// Commits are grouped (see `GroupCommit`) and on the disk before a call returns.
public final class SQLiteStorage: Storage {
  let writer: GroupCommit
  let reader: Reader
  let codes: RowCodes
  private let probe: Probe

  /// Opens the file, made with mode 0600 if there is none, and brings its schema up to date.
  ///
  /// - Parameters:
  ///   - path: The file; its folder must exist.
  ///   - busyTimeoutMilliseconds: How long a call waits for another process that writes, before ``StorageFailure/busy``.
  /// - Throws: ``StorageFailure``.
  public convenience init(path: String, busyTimeoutMilliseconds: Int = 10_000) throws(StorageFailure) {
    try self.init(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds, observer: nil)
  }

  /// Opens the file as ``init(path:busyTimeoutMilliseconds:)`` does.
  ///
  /// - Parameters:
  ///   - path: The file; its folder must exist.
  ///   - busyTimeoutMilliseconds: How long a call waits for another process that writes.
  ///   - observer: Called with each statement of a change before it runs; tests break changes off there.
  /// - Throws: ``StorageFailure``.
  package init(
    path: String, busyTimeoutMilliseconds: Int = 10_000, observer: Database.StatementObserver?
  ) throws(StorageFailure) {
    writer = try GroupCommit(
      path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds, migrations: SQLiteSchema.migrations,
      observer: observer)
    reader = try Reader(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    codes = RowCodes(key: nil)
    probe = Probe(path: path)
  }

  private init(_ other: SQLiteStorage, _ codes: RowCodes) {
    (writer, reader, probe, self.codes) = (other.writer, other.reader, other.probe, codes)
  }

  /// Whether a file is a database with tables in it; other than when it is opened for use, nothing is made.
  ///
  /// - Parameters:
  ///   - path: A file that exists.
  ///   - isBackup: Whether the file is a copy, in which nothing may change.
  /// - Returns: Whether there are any.
  /// - Throws: ``StorageFailure``.
  public static func hasTables(at path: String, isBackup: Bool) throws(StorageFailure) -> Bool {
    do {
      let database = try Database(path: path, mode: isBackup ? .readOnly : .readWrite)
      return try database.query("SELECT 1 FROM sqlite_schema LIMIT 1").first != nil
    } catch { throw StorageFailure(error) }
  }

  /// Copies what is committed at this moment into a new file of mode 0600, and verifies the copy; the file may be in use.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - copy: Where no file is yet. After a failure what is there is to be removed.
  ///   - isBackup: Whether the file is a copy itself, in which nothing may change.
  /// - Throws: ``StorageFailure``.
  public static func copy(_ path: String, to copy: String, isBackup: Bool) throws(StorageFailure) {
    do {
      try Database(path: path, mode: isBackup ? .readOnly : .readWrite).backUp(to: copy)
      try Database(path: copy, mode: .readOnly).checkIntegrity()
    } catch { throw StorageFailure(error) }
  }

  /// As ``Storage`` says.
  public func authenticatingRows(with key: HMACKey) -> any Storage {
    SQLiteStorage(self, RowCodes(key: key))
  }

  /// As ``Storage`` says.
  public func checkReadiness(at time: Int64) async throws(StorageFailure) { try await probe.look(at: time) }

  /// How many changes wait for the next commit.
  package var waitingChangeCount: Int { writer.waitingChangeCount }

  /// Lets the file grow to so many pages and no further; tests fill it up.
  package func limitPageCount(to count: Int) async throws(StorageFailure) {
    try await writer.write { _ = try $0.query("PRAGMA max_page_count = \(count)") }
  }

  /// How many commits there were; fewer than changes where these came together.
  package var commitCount: Int {
    get async { await writer.commitCount }
  }

  /// Finishes the changes that were begun and closes the file; later calls throw ``StorageFailure/closed``.
  public func close() async {
    await reader.close()
    await writer.close()
  }
}

extension Database {
  /// Appends to the audit log inside the open transaction.
  func appendAudit(_ record: AuditRecord) throws {
    var chain = try auditTail()
    let entry = chain.append(record.text)
    try execute(
      "INSERT INTO audit (number, event, hash) VALUES (?, ?, ?)", .integer(entry.number),
      .text(entry.text),
      .blob(entry.hash))
    note = TransactionNotes(chain: chain, goodKey: (note as? TransactionNotes)?.goodKey)
  }

  /// The chain up to the last entry, read once in a transaction.
  private func auditTail() throws -> AuditChain {
    if let chain = (note as? TransactionNotes)?.chain { return chain }
    let last = try query("SELECT number, event, hash FROM audit ORDER BY number DESC LIMIT 1").first
    return try last.map { AuditChain(after: try AuditEntry($0)) } ?? AuditChain()
  }

  /// Forgets what was read in another transaction: another process may have written since, or what was written was undone.
  func forgetNotes() { note = nil }
}

/// What is read once in a transaction, though many changes ask for it.
struct TransactionNotes: Sendable {
  /// The audit log up to its last entry.
  var chain: AuditChain?
  /// An API key that is not revoked.
  var goodKey: String?
}

extension AuditEntry {
  init(_ row: Row) throws(SQLiteFailure) {
    self.init(
      number: try row.integer("number"), text: try row.text("event"),
      hash: try row.blob("hash"))
  }
}

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func append(_ record: AuditRecord) async throws(StorageFailure) {
    try await writer.write { try $0.appendAudit(record) }
  }

  /// As ``Storage`` says.
  public func auditEntries(after number: Int64, limit: Int) async throws(StorageFailure) -> [AuditEntry] {
    try await reader.read { database in
      try database.query(
        "SELECT number, event, hash FROM audit WHERE number > ? ORDER BY number LIMIT ?", .integer(number),
        .int(max(0, limit))
      ).map { try AuditEntry($0) }
    }
  }

  /// As ``Storage`` says.
  public func sweep(
    at time: Int64, audit: @escaping @Sendable (String) -> AuditRecord
  ) async throws(StorageFailure) -> Int {
    try await writer.write { database in
      try database.execute("DELETE FROM requests WHERE expires <= ?", .integer(time))
      try database.execute("DELETE FROM waits WHERE expires <= ?", .integer(time))
      try database.execute(
        "DELETE FROM push_targets WHERE (SELECT state FROM containers WHERE id = container) = 'revoked'")
      try database.execute(
        "DELETE FROM backchannel_requests WHERE expires <= ?", .integer(time - 86_400))
      // Anybody may begin one: what nobody answered is forgotten soon. How the others ended can be asked for a day.
      try database.execute(
        """
        DELETE FROM uaf_sessions WHERE (state = 'requested' AND token_digest IS NULL
            OR state = 'failed' AND client IS NOT NULL) AND expires <= ?
        """, .integer(time - 600))
      try database.execute(
        "DELETE FROM uaf_sessions WHERE created < ?1 AND expires <= ?2 AND coalesce(ended, created) < ?1",
        .integer(time - 86_400), .integer(time))
      // URIs that nobody has used, and messages whose end could be asked for long enough.
      try database.execute(
        """
        DELETE FROM credentials WHERE state = 'pending' AND id IN
          (SELECT credential FROM pushauth_mechanisms WHERE state = 'open' AND expires <= ?)
        """, .integer(time))
      try database.execute(
        "DELETE FROM pushauth_mechanisms WHERE state = 'open' AND expires <= ?", .integer(time))
      try database.execute("DELETE FROM pushauth_messages WHERE expires <= ?", .integer(time - 30 * 86_400))
      // Who waits has looked long before.
      try database.execute("DELETE FROM transaction_changes WHERE time < unixepoch() - 600")
      let expired = try database.query(
        "UPDATE transactions SET state = 'expired' WHERE state = 'pending' AND expires <= ? RETURNING id",
        .integer(time))
      for row in expired {
        try database.noteChange(of: row.text("id"))
        try database.appendAudit(audit(try row.text("id")))
      }
      return expired.count
    }
  }
}
