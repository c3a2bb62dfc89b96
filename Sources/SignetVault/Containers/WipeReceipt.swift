import SignetSQLite

/// A record that a domain was erased after too many wrong passwords; the container keeps it to report to the server.
package struct WipeReceipt: Sendable, Hashable {
  package let container: LocalContainerID
  package let domain: String
  /// The time of the wipe, in seconds since 1970-01-01T00:00:00Z, by the device's clock.
  package let wipedAt: Int64
  /// The number of failed attempts before the wipe.
  package let failedCount: Int

  private static let columns = "container, domain, wiped_at, failed, mac"

  static func rows(of container: LocalContainerID, in database: Database) throws(SQLiteFailure) -> [Row] {
    try database.query("SELECT \(columns) FROM receipt WHERE container = ?", .blob(container.bytes))
  }

  init(container: LocalContainerID, domain: String, wipedAt: Int64, failedCount: Int) {
    (self.container, self.domain) = (container, domain)
    (self.wipedAt, self.failedCount) = (wipedAt, failedCount)
  }

  /// Reads and verifies a row.
  ///
  /// - Throws: ``VaultFailure/altered(_:)``.
  init(_ row: Row, in container: LocalContainerID, _ seal: RowSeal) throws(VaultFailure) {
    do throws(SQLiteFailure) {
      self.init(
        container: container, domain: try row.text("domain"), wipedAt: try row.integer("wiped_at"),
        failedCount: Int(clamping: try row.integer("failed")))
      if seal.isValid(try row.blob("mac"), canonicalBytes) { return }
    } catch {}
    throw .altered(.container(container))
  }

  /// Inserts the receipt.
  ///
  /// - Returns: The row's MAC.
  func insert(into database: Database, _ seal: RowSeal) throws(SQLiteFailure) -> [UInt8] {
    let code = seal.code(canonicalBytes)
    try database.execute(
      "INSERT INTO receipt (\(Self.columns)) VALUES (?, ?, ?, ?, ?)", .blob(container.bytes), .text(domain),
      .integer(wipedAt), .int(failedCount), .blob(code))
    return code
  }

  private var canonicalBytes: CanonicalBytes {
    var row = CanonicalBytes("receipt")
    row.append(container.bytes)
    row.append(domain)
    row.append(wipedAt)
    row.append(Int64(failedCount))
    return row
  }
}

extension Vault {
  /// Returns the receipts of all erased domains, oldest first.
  ///
  /// The container and its device-only domains still exist, so that the device can authenticate its report to the server.
  /// Delete the container afterwards.
  ///
  /// - Throws: ``VaultFailure``.
  package func wipeReceipts() throws(VaultFailure) -> [WipeReceipt] {
    do {
      let (receipts, altered) = try tables.readAll { try $0.allReceipts() }
      if let id = altered.first { throw VaultFailure.altered(.container(id)) }
      return receipts.flatMap(\.self).sorted {
        ($0.wipedAt, $0.domain) < ($1.wipedAt, $1.domain)
      }
    } catch { throw VaultFailure(error) }
  }
}
