import SignetPolicy
import SignetSQLite

/// What opened a domain, for asking later whether it still does.
package struct OpenedSlot: Sendable {
  let slot: ProtectionSlot
}

extension Vault {
  /// Refuses what was opened before the password was changed, locked or erased, by whatever process.
  ///
  /// Whoever keeps an open domain, or a key from it, asks this before each use.
  ///
  /// - Parameters:
  ///   - opened: What opened it.
  ///   - askingHardware: Whether an older copy in the place of the folder is to be noticed too, which takes the hardware's time.
  /// - Throws: ``VaultFailure``: `outdated`, `lockedOut`, `waiting`, `wiped`, `noSuchSlot`, `noSuchContainer`, `rolledBack`.
  package func requireCurrent(_ opened: OpenedSlot, askingHardware: Bool = true) throws(VaultFailure) {
    let header = opened.slot.header
    do {
      let (row, decision) = try decided(
        unless: { $0.1.isAllowed },
        {
          // Others are kept from writing while the hardware's number is compared.
          let row = try database.transaction(askingHardware ? .immediate : .deferred) {
            let state = try VaultState(from: tables)
            if askingHardware { try tables.counter?.requireLatest(state) }
            return try ContainerRows(header.place.container, in: tables, state).slot(
              header.place.domain, header.kind)
          }
          return (row, header.lockPolicy.decision(after: row.attempts, at: waitInstantToTell))
        })
      guard row.slot == opened.slot else { throw VaultFailure.outdated(domain: header.place.domain) }
      switch decision {
      case .allowed: return
      case .wait(let wait, let remaining): throw VaultFailure.waiting(wait, remaining: remaining)
      case .lockedOut, .wipe: throw VaultFailure.lockedOut
      }
    } catch { throw VaultFailure(error) }
  }
}
