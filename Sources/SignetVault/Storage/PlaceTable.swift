import SignetCrypto
import SignetSQLite

/// The table of hardware places that are occupied, or will be, and that no slot uses.
extension VaultState {
  /// The blobs that name these places.
  ///
  /// - Throws: ``VaultFailure/altered(_:)`` if the digest does not match: an attacker may have listed a place in use for release.
  func places(in tables: VaultTables) throws -> Set<[UInt8]> {
    let places = try Self.stored(in: tables)
    guard Self.digest(of: places) == self[.places] else { throw VaultFailure.altered(.vault) }
    return places
  }

  mutating func changePlaces(
    in tables: VaultTables, _ change: (inout Set<[UInt8]>) throws -> Void
  ) throws {
    let before = try places(in: tables)
    var after = before
    try change(&after)
    for blob in after.subtracting(before) {
      try tables.database.execute("INSERT INTO place (blob) VALUES (?)", .blob(blob))
    }
    for blob in before.subtracting(after) {
      try tables.database.execute("DELETE FROM place WHERE blob = ?", .blob(blob))
    }
    self[.places] = Self.digest(of: after)
  }

  /// Adopts the places of an earlier version without verification.
  mutating func adoptPlaces(of tables: VaultTables) throws {
    self[.places] = Self.digest(of: try Self.stored(in: tables))
  }

  private static func stored(in tables: VaultTables) throws -> Set<[UInt8]> {
    Set(try tables.database.query("SELECT blob FROM place").map { try $0.blob("blob") })
  }

  private static func digest(of places: Set<[UInt8]>) -> [UInt8]? {
    if places.isEmpty { return nil }
    var bytes = CanonicalBytes("places")
    for blob in places.sorted(by: { $0.lexicographicallyPrecedes($1) }) { bytes.append(blob) }
    return HashFunction.sha256.digest(of: bytes.bytes)
  }
}
