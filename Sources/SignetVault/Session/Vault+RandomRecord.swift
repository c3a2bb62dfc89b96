package import SignetCrypto
import SignetSQLite

extension Vault {
  /// The secret in a record; if there is none of this name, it is made of random bytes and stored first.
  ///
  /// Whoever asks at the same time, in whatever process, gets the same bytes.
  ///
  /// - Returns: The secret, of the length with which it was made.
  /// - Throws: ``VaultFailure``.
  package func randomRecord(
    _ name: String, byteCount: Int, in unlocked: borrowing UnlockedDomain
  ) throws(VaultFailure) -> SecretBytes {
    guard DomainPlace.isName(name) else { throw .invalidName }
    do {
      let place = unlocked.place
      let openedBy = unlocked.openedBy
      let fresh = try unlocked.sealRecord(name, .random(byteCount: byteCount))
      let sealed = try database.transaction {
        // The container may have been deleted or replaced since the domain was opened.
        _ = try Container.find(place.container, in: database, seal)
        _ = try SlotRow.find(place, openedBy, in: database, seal, floor: settings.insecureCostFloor)
        try database.execute(
          "INSERT INTO record (container, domain, name, sealed) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
          .blob(place.container.bytes), .text(place.domain), .text(name), .blob(fresh))
        let rows = try database.query(
          "SELECT sealed FROM record WHERE container = ? AND domain = ? AND name = ?",
          .blob(place.container.bytes), .text(place.domain), .text(name))
        guard let row = rows.first else { throw VaultFailure.noSuchRecord(name: name) }
        return try row.blob("sealed")
      }
      return try unlocked.openRecord(name, sealed)
    } catch { throw VaultFailure(error) }
  }
}
