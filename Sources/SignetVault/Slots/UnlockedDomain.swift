package import SignetCrypto

/// A protection domain that has been opened: its master key, until this value's lifetime ends.
///
/// The key is wiped then; dropping the value is locking the domain. Records stay encrypted and are opened one at a time.
package struct UnlockedDomain: ~Copyable, Sendable {
  /// The container that the domain belongs to.
  package var container: ContainerID { place.container }
  /// The name of the domain.
  package var name: String { place.domain }
  /// What opened it.
  package var openedBy: SlotKind { slot.header.kind }
  /// The slot that was opened, to find out later whether it still is what opens the domain.
  package var openedSlot: OpenedSlot { OpenedSlot(slot: slot) }
  let slot: ProtectionSlot
  /// How long that took.
  package let timing: UnlockTiming

  var place: DomainPlace { slot.header.place }
  package let masterKey: SecretBytes
  /// `nil` unless the domain is silent.
  let silent: SilentSealing?
  let records: [String: [UInt8]]

  /// Whether nothing tells if the password was right: what is read may be other secrets than were stored.
  package var isSilent: Bool { silent != nil }

  /// The names of the records, sorted.
  package var recordNames: [String] { records.keys.filter(DomainPlace.isName).sorted() }

  /// Lends a record to `body`, as it was when the domain was opened; the bytes are wiped when it returns.
  ///
  /// - Throws: ``VaultFailure/noSuchRecord(name:)``, ``VaultFailure/altered(_:)``, and what `body` throws.
  package borrowing func withRecord<R: ~Copyable>(_ name: String, _ body: (RawSpan) throws -> R) throws -> R {
    guard DomainPlace.isName(name), let sealed = records[name] else {
      throw VaultFailure.noSuchRecord(name: name)
    }
    return try openRecord(name, sealed).withBytes(body)
  }

  borrowing func openRecord(_ name: String, _ sealed: [UInt8]) throws(VaultFailure) -> SecretBytes {
    do {
      if let silent { return try silent.openRecord(name, sealed, masterKey: masterKey) }
      return try AESGCM.openCombined(sealed, key: masterKey, additionalData: place.recordContext(name))
    } catch { throw .altered(.record(place.container, domain: place.domain, name: name)) }
  }

  borrowing func sealRecord(_ name: String, _ secret: borrowing SecretBytes) throws -> [UInt8] {
    // Under a wrong password this would spoil what is stored, and nobody would notice.
    guard silent == nil else { throw VaultFailure.silentDomain(place.domain) }
    return try AESGCM.sealCombined(secret, key: masterKey, additionalData: place.recordContext(name))
  }
}

/// How long opening a domain took, in two parts.
package struct UnlockTiming: Sendable, Hashable {
  /// All of it.
  package let total: Duration
  /// The part that is meant to be slow, deriving a key from the password; zero without one.
  package let keyDerivation: Duration

  /// What is left: storage, hardware and the small cryptography.
  package var overhead: Duration { total - keyDerivation }
}
