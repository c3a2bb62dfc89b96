import SignetPolicy
import SignetSQLite

/// The slot that opened a domain, to check later that it is still current.
package struct OpenedSlot: Sendable {
  let slot: ProtectionSlot
}

extension Vault {
  /// Rejects a domain whose slot was changed, locked or erased after it was opened, by any process.
  ///
  /// Code that keeps an open domain, or a key from it, must call this before each use.
  ///
  /// - Parameters:
  ///   - opened: The slot that opened the domain.
  ///   - askingHardware: True to detect a rolled-back folder too, which takes the hardware's time.
  /// - Throws: ``VaultFailure``: `outdated`, `lockedOut`, `waiting`, `wiped`, `noSuchSlot`, `noSuchContainer`, `rolledBack`.
  package func requireCurrent(_ opened: OpenedSlot, askingHardware: Bool = true) throws(VaultFailure) {
    let header = opened.slot.header
    do {
      let (row, decision) = try decided(
        unless: { $0.1.isAllowed },
        {
          // Comparing with the hardware counter must exclude other writers.
          let row = try database.transaction(askingHardware ? .immediate : .deferred) {
            let state = try VaultState(from: tables)
            if askingHardware { try tables.counter?.requireLatest(state) }
            return try ContainerRows(header.domainID.container, in: tables, state).slot(
              header.domainID.domain, header.kind)
          }
          return (row, header.lockPolicy.decision(after: row.attempts, at: waitInstantForDisplay))
        })
      guard row.slot == opened.slot else { throw VaultFailure.outdated(domain: header.domainID.domain) }
      switch decision {
      case .allowed: return
      case .wait(let wait, let remaining): throw VaultFailure.waiting(wait, remaining: remaining)
      case .lockedOut, .wipe: throw VaultFailure.lockedOut
      }
    } catch { throw VaultFailure(error) }
  }
}
