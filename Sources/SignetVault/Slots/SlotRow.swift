import SignetCrypto
import SignetPolicy
import SignetSQLite

/// A slot with the count of its failed attempts, as a row.
struct SlotRow {
  var slot: ProtectionSlot
  var attempts: AttemptState

  private static let columns = "container, domain, kind, header, sealed_secret, wrapped_key, failed, mac"

  /// The slot of a domain that opens in one way.
  ///
  /// - Throws: ``VaultFailure``: `noSuchSlot`, `altered` if the row is not what was stored, `costOutOfRange`; ``SQLiteFailure``.
  static func find(
    _ place: DomainPlace, _ kind: SlotKind, in database: Database, _ seal: RowSeal, floor: Argon2id
  ) throws -> SlotRow {
    let rows = try database.query(
      "SELECT \(columns) FROM slot WHERE container = ? AND domain = ? AND kind = ?",
      .blob(place.container.bytes), .text(place.domain), .integer(Int64(kind.rawValue)))
    guard let row = rows.first else { throw VaultFailure.noSuchSlot(domain: place.domain, kind) }
    return try SlotRow(row, in: place.container, seal, floor: floor)
  }

  /// All slots of a container, sorted by the names of their domains.
  static func all(
    of container: ContainerID, in database: Database, _ seal: RowSeal, floor: Argon2id
  ) throws -> [SlotRow] {
    try database.query(
      "SELECT \(columns) FROM slot WHERE container = ? ORDER BY domain, kind", .blob(container.bytes)
    ).map { try SlotRow($0, in: container, seal, floor: floor) }
  }

  /// Adds the slot.
  func insert(into database: Database, _ seal: RowSeal) throws {
    try database.execute(
      "INSERT INTO slot (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      .blob(place.container.bytes), .text(place.domain), .integer(Int64(slot.header.kind.rawValue)),
      .blob(slot.header.bytes), .blob(slot.sealedSecret), .blob(slot.wrappedKey), .int(attempts.failedCount),
      .blob(code(seal)))
  }

  /// Stores the count of failed attempts.
  func updateAttempts(in database: Database, _ seal: RowSeal) throws {
    try database.execute(
      "UPDATE slot SET failed = ?, mac = ? WHERE container = ? AND domain = ? AND kind = ?",
      .int(attempts.failedCount), .blob(code(seal)), .blob(place.container.bytes), .text(place.domain),
      .integer(Int64(slot.header.kind.rawValue)))
  }

  private var place: DomainPlace { slot.header.place }

  private init(_ row: Row, in container: ContainerID, _ seal: RowSeal, floor: Argon2id) throws(VaultFailure) {
    var domain = "?"
    do {
      domain = try row.text("domain")
      let header = try row.blob("header")
      let failed = try row.integer("failed")
      let sealedSecret = try row.blob("sealed_secret")
      let wrappedKey = try row.blob("wrapped_key")
      let canonical = Self.canonicalBytes(header, sealedSecret, wrappedKey, failed)
      // The header names the place, so the columns that found the row only have to agree with it.
      guard seal.isValid(try row.blob("mac"), canonical), let failedCount = Int(exactly: failed),
        failedCount >= 0
      else { throw SlotHeader.Refusal.malformed }
      let parsed = try SlotHeader(parsing: header, floor: floor)
      guard parsed.place == DomainPlace(vault: seal.vault, container: container, domain: domain),
        try row.integer("kind") == Int64(parsed.kind.rawValue), parsed.bytes == header
      else { throw SlotHeader.Refusal.malformed }
      slot = ProtectionSlot(header: parsed, sealedSecret: sealedSecret, wrappedKey: wrappedKey)
      attempts = AttemptState(failedCount: failedCount)
    } catch SlotHeader.Refusal.cost(let cost) {
      throw .costOutOfRange(cost)
    } catch { throw .altered(.slot(container, domain: domain)) }
  }

  init(slot: ProtectionSlot) {
    self.slot = slot
    attempts = AttemptState()
  }

  private func code(_ seal: RowSeal) -> [UInt8] {
    seal.code(
      Self.canonicalBytes(slot.header.bytes, slot.sealedSecret, slot.wrappedKey, Int64(attempts.failedCount)))
  }

  private static func canonicalBytes(
    _ header: [UInt8], _ sealedSecret: [UInt8], _ wrappedKey: [UInt8], _ failed: Int64
  ) -> CanonicalBytes {
    var row = CanonicalBytes("slot")
    row.append(header)
    row.append(sealedSecret)
    row.append(wrappedKey)
    row.append(failed)
    return row
  }
}
