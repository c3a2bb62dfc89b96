package import SignetCrypto
import SignetSQLite

extension Vault {
  /// Stores a record in an open domain, in the place of one of the same name if there is one.
  ///
  /// - Throws: ``VaultFailure``.
  package func setRecord(
    _ name: String, to secret: borrowing SecretBytes, in unlocked: borrowing UnlockedDomain
  ) throws(VaultFailure) {
    guard DomainPlace.isName(name) else { throw .invalidName }
    do {
      let sealed = try unlocked.sealRecord(name, secret)
      let place = unlocked.place
      let openedBy = unlocked.openedBy
      try database.transaction {
        // The container may have been deleted or replaced since the domain was opened.
        _ = try Container.find(place.container, in: database, seal)
        _ = try SlotRow.find(place, openedBy, in: database, seal, floor: settings.insecureCostFloor)
        try database.execute(
          """
          INSERT INTO record (container, domain, name, sealed) VALUES (?, ?, ?, ?)
          ON CONFLICT (container, domain, name) DO UPDATE SET sealed = excluded.sealed
          """, .blob(place.container.bytes), .text(place.domain), .text(name), .blob(sealed))
      }
    } catch { throw VaultFailure(error) }
  }

  /// Takes the next value of a counter: a record of 8 bytes, big-endian.
  ///
  /// The counter is one further, and on the disk, before this returns: no two calls, in whatever process, get one value.
  ///
  /// - Returns: The value before.
  /// - Throws: ``VaultFailure``.
  package func advanceCounter(
    _ name: String, in unlocked: borrowing UnlockedDomain
  ) throws(VaultFailure) -> UInt64 {
    do {
      let place = unlocked.place
      return try database.transaction {
        let sealed = try storedRecord(name, in: unlocked)
        let value = try unlocked.openRecord(name, sealed).withUInt8Span { bytes throws(VaultFailure) in
          guard bytes.count == 8 else { throw .notACounter(name: name) }
          return (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[$1]) }
        }
        guard value < .max else { throw VaultFailure.counterExhausted(name: name) }
        let next = SecretBytes(byteCount: 8) { output in
          for shift in stride(from: 56, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: (value + 1) >> UInt64(shift)))
          }
        }
        try database.execute(
          "UPDATE record SET sealed = ? WHERE container = ? AND domain = ? AND name = ?",
          .blob(try unlocked.sealRecord(name, next)), .blob(place.container.bytes), .text(place.domain),
          .text(name))
        return value
      }
    } catch { throw VaultFailure(error) }
  }

  private func storedRecord(_ name: String, in unlocked: borrowing UnlockedDomain) throws -> [UInt8] {
    let place = unlocked.place
    _ = try Container.find(place.container, in: database, seal)
    let rows = try database.query(
      "SELECT sealed FROM record WHERE container = ? AND domain = ? AND name = ?",
      .blob(place.container.bytes), .text(place.domain), .text(name))
    guard let row = rows.first else { throw VaultFailure.noSuchRecord(name: name) }
    return try row.blob("sealed")
  }
}
