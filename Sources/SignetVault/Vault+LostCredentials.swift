/// A slot whose hardware secret is permanently lost.
package struct LostCredential: Sendable, Hashable {
  package let container: ContainerID
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
  package func lostCredentials() throws(VaultFailure) -> [LostCredential] {
    do {
      let (containers, altered) = try tables.readAll { ($0.id, try $0.allSlots()) }
      if let id = altered.first { throw VaultFailure.altered(.container(id)) }
      return try containers.flatMap { id, slots in
        try slots.compactMap { try lostCredential(of: $0.slot, in: id) }
      }
    } catch { throw VaultFailure(error) }
  }

  private func lostCredential(of slot: ProtectionSlot, in container: ContainerID) throws -> LostCredential? {
    do throws(KeystoreFailure) {
      if slot.header.guessLimit != nil, let counting = keystore as? any GuessLimitingKeystore {
        _ = try counting.guessesLeft(slot.sealedSecret)
      } else {
        _ = try keystore.unseal(
          slot.sealedSecret, context: slot.header.place.hardwareContext(slot.header.kind))
      }
      return nil
    } catch {
      guard error.remedy == .registerAnew else { throw error }
      return LostCredential(
        container: container, domain: slot.header.place.domain, slot: slot.header.kind, failure: error)
    }
  }
}
