/// A slot whose hardware secret is permanently lost.
package struct LostSlot: Sendable, Hashable {
  package let container: LocalContainerID
  package let domain: String
  package let slot: SlotKind
  package let failure: KeystoreFailure
}

extension Vault {
  /// Finds slots that the keystore can no longer open, because it was cleared or the files come from another device.
  ///
  /// Call this when an app starts. It opens nothing, makes no attempt and changes nothing. If the keystore is only
  /// unavailable now, it throws instead of reporting a loss.
  ///
  /// - Returns: The lost slots; their containers must be registered again.
  /// - Throws: ``VaultFailure``; `keystore` with a failure whose remedy is to try later or to change something.
  package func lostSlots() throws(VaultFailure) -> [LostSlot] {
    do {
      let (containers, altered) = try tables.readAll { ($0.id, try $0.allSlots()) }
      if let id = altered.first { throw VaultFailure.altered(.container(id)) }
      return try containers.flatMap { id, slots in
        try slots.compactMap { try lostSlot(of: $0.slot, in: id) }
      }
    } catch { throw VaultFailure(error) }
  }

  private func lostSlot(of slot: ProtectionSlot, in container: LocalContainerID) throws -> LostSlot? {
    do throws(KeystoreFailure) {
      if slot.header.guessLimit != nil, let counting = keystore as? any GuessLimitingKeystore {
        _ = try counting.guessesLeft(slot.sealedSecret)
      } else {
        _ = try keystore.unseal(
          slot.sealedSecret, context: slot.header.domainID.hardwareContext(slot.header.kind))
      }
      return nil
    } catch {
      guard error.remedy == .registerAnew else { throw error }
      return LostSlot(
        container: container, domain: slot.header.domainID.domain, slot: slot.header.kind, failure: error)
    }
  }
}
