import SignetCrypto
import SignetSQLite

/// The table of hardware locations that are occupied, or will be, and that no slot uses.
extension VaultState {
  /// The blobs that name these locations.
  ///
  /// - Throws: ``VaultFailure/altered(_:)`` if the digest does not match: an attacker may have listed a used location for release.
  func locations(in tables: VaultTables) throws -> Set<[UInt8]> {
    let locations = try Self.stored(in: tables)
    guard Self.digest(of: locations) == self[.locations] else { throw VaultFailure.altered(.vault) }
    return locations
  }

  mutating func changeLocations(
    in tables: VaultTables, _ change: (inout Set<[UInt8]>) throws -> Void
  ) throws {
    let before = try locations(in: tables)
    var after = before
    try change(&after)
    for blob in after.subtracting(before) {
      try tables.database.execute("INSERT INTO place (blob) VALUES (?)", .blob(blob))
    }
    for blob in before.subtracting(after) {
      try tables.database.execute("DELETE FROM place WHERE blob = ?", .blob(blob))
    }
    self[.locations] = Self.digest(of: after)
  }

  /// Adopts the locations of an earlier version without verification.
  mutating func adoptLocations(of tables: VaultTables) throws {
    self[.locations] = Self.digest(of: try Self.stored(in: tables))
  }

  private static func stored(in tables: VaultTables) throws -> Set<[UInt8]> {
    Set(try tables.database.query("SELECT blob FROM place").map { try $0.blob("blob") })
  }

  private static func digest(of locations: Set<[UInt8]>) -> [UInt8]? {
    if locations.isEmpty { return nil }
    var bytes = CanonicalBytes("places")
    for blob in locations.sorted(by: { $0.lexicographicallyPrecedes($1) }) { bytes.append(blob) }
    return HashFunction.sha256.digest(of: bytes.bytes)
  }
}
