import SignetSQLite

/// That a domain was erased after too many wrong passwords: kept with its container, for the server to be told.
package struct WipeReceipt: Sendable, Hashable {
  /// The container.
  package let container: ContainerID
  /// The domain that is gone.
  package let domain: String
  /// When, in seconds since 1970-01-01T00:00:00Z, by the device's clock.
  package let wipedAt: Int64
  /// After how many failed attempts.
  package let failedCount: Int

  private static let columns = "container, domain, wiped_at, failed, mac"

  /// The rows of a container.
  static func rows(of container: ContainerID, in database: Database) throws(SQLiteFailure) -> [Row] {
    try database.query("SELECT \(columns) FROM receipt WHERE container = ?", .blob(container.bytes))
  }

  init(container: ContainerID, domain: String, wipedAt: Int64, failedCount: Int) {
    (self.container, self.domain) = (container, domain)
    (self.wipedAt, self.failedCount) = (wipedAt, failedCount)
  }

  /// Reads a row.
  ///
  /// - Throws: ``VaultFailure/altered(_:)``.
  init(_ row: Row, in container: ContainerID, _ seal: RowSeal) throws(VaultFailure) {
    do throws(SQLiteFailure) {
      self.init(
        container: container, domain: try row.text("domain"), wipedAt: try row.integer("wiped_at"),
        failedCount: Int(clamping: try row.integer("failed")))
      if seal.isValid(try row.blob("mac"), canonicalBytes) { return }
    } catch {}
    throw .altered(.container(container))
  }

  /// Adds the receipt.
  ///
  /// - Returns: The row's code.
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
  /// What was erased and not yet acknowledged, oldest first.
  ///
  /// The container and its domains that the device alone opens are still there, so that the server can be told by whom it
  /// knows; delete the container afterwards.
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
