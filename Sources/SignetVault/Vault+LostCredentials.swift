/// A way of opening a domain whose hardware secret is lost for good.
package struct LostCredential: Sendable, Hashable {
  /// The container.
  package let container: ContainerID
  /// The domain.
  package let domain: String
  /// The way of opening it.
  package let slot: SlotKind
  /// What the keystore says.
  package let failure: KeystoreFailure
}

extension Vault {
  /// Looks, at the start of an app, for what the keystore cannot open any more: it was cleared, or the files come from elsewhere.
  ///
  /// Nothing is opened, no attempt is made, and nothing is changed. Where the keystore is only out of reach for now, that is
  /// thrown instead of taken for a loss.
  ///
  /// - Returns: What is lost: these containers have to be registered anew.
  /// - Throws: ``VaultFailure``; `keystore` with a failure whose remedy is to try later or to change something.
  package func lostCredentials() throws(VaultFailure) -> [LostCredential] {
    do {
      let (containers, altered) = try tables.readAll { ($0.id, try $0.allSlots()) }
      if let id = altered.first { throw VaultFailure.altered(.container(id)) }
      return try containers.flatMap { id, slots in
        try slots.compactMap { try loss(of: $0.slot, in: id) }
      }
    } catch { throw VaultFailure(error) }
  }

  private func loss(of slot: ProtectionSlot, in container: ContainerID) throws -> LostCredential? {
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
