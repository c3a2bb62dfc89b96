import SignetPolicy
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

  static func find(_ place: DomainPlace, in database: Database, _ seal: RowSeal) throws -> WipeReceipt? {
    try database.query(
      "SELECT \(columns) FROM receipt WHERE container = ? AND domain = ?", .blob(place.container.bytes),
      .text(place.domain)
    ).first.map { try WipeReceipt($0, seal) }
  }

  static func all(in database: Database, _ seal: RowSeal) throws -> [WipeReceipt] {
    try database.query("SELECT \(columns) FROM receipt ORDER BY wiped_at, domain").map {
      try WipeReceipt($0, seal)
    }
  }

  init(container: ContainerID, domain: String, wipedAt: Int64, failedCount: Int) {
    (self.container, self.domain) = (container, domain)
    (self.wipedAt, self.failedCount) = (wipedAt, failedCount)
  }

  private init(_ row: Row, _ seal: RowSeal) throws {
    guard let id = Identifier(try row.blob("container")), let failed = Int(exactly: try row.integer("failed"))
    else { throw VaultFailure.altered(.container(nil)) }
    self.init(
      container: ContainerID(id), domain: try row.text("domain"), wipedAt: try row.integer("wiped_at"),
      failedCount: failed)
    guard seal.isValid(try row.blob("mac"), canonicalBytes) else {
      throw VaultFailure.altered(.container(container))
    }
  }

  func insert(into database: Database, _ seal: RowSeal) throws {
    try database.execute(
      "INSERT INTO receipt (\(Self.columns)) VALUES (?, ?, ?, ?, ?)", .blob(container.bytes), .text(domain),
      .integer(wipedAt), .int(failedCount), .blob(seal.code(canonicalBytes)))
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
    do { return try WipeReceipt.all(in: database, seal) } catch { throw VaultFailure(error) }
  }

  /// Erases a domain: its slots and records go, a receipt comes.
  func wipe(_ place: DomainPlace, _ attempts: AttemptState, at now: Int64) throws {
    let values: [SQLiteValue] = [.blob(place.container.bytes), .text(place.domain)]
    try retireSlots(where: "container = ? AND domain = ?", values)
    try database.execute("DELETE FROM slot WHERE container = ? AND domain = ?", values)
    try database.execute("DELETE FROM record WHERE container = ? AND domain = ?", values)
    try WipeReceipt(
      container: place.container, domain: place.domain, wipedAt: now, failedCount: attempts.failedCount
    ).insert(into: database, seal)
  }
}
