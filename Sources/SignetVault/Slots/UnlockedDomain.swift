package import SignetCrypto

/// An opened protection domain, which holds its master key until the end of this value's lifetime.
///
/// The key is wiped then, which locks the domain. Records stay encrypted and are decrypted one at a time.
package struct UnlockedDomain: ~Copyable, Sendable {
  package var container: LocalContainerID { domainID.container }
  package var name: String { domainID.domain }
  package var openedBy: SlotKind { slot.header.kind }
  /// The slot that opened the domain, to check later that it is still current.
  package var openedSlot: OpenedSlot { OpenedSlot(slot: slot) }
  let slot: ProtectionSlot
  package let timing: UnlockTiming

  var domainID: DomainID { slot.header.domainID }
  package let masterKey: SecretBytes
  /// `nil` unless the domain is silent.
  let silent: SilentSealing?
  let records: [String: [UInt8]]

  /// True if the password could not be verified, so that the records may differ from the stored secrets.
  package var isSilent: Bool { silent != nil }

  /// The names of the records, sorted.
  package var recordNames: [String] { records.keys.filter(DomainID.isName).sorted() }

  /// Lends a record to `body`, as stored when the domain was opened; its bytes are wiped afterwards.
  ///
  /// - Throws: ``VaultFailure/noSuchRecord(name:)``, ``VaultFailure/altered(_:)``, and any error of `body`.
  package borrowing func withRecord<R: ~Copyable>(_ name: String, _ body: (RawSpan) throws -> R) throws -> R {
    guard DomainID.isName(name), let sealed = records[name] else {
      throw VaultFailure.noSuchRecord(name: name)
    }
    return try openRecord(name, sealed).withBytes(body)
  }

  borrowing func openRecord(_ name: String, _ sealed: [UInt8]) throws(VaultFailure) -> SecretBytes {
    do {
      if let silent { return try silent.openRecord(name, sealed, masterKey: masterKey) }
      return try AESGCM.openCombined(sealed, key: masterKey, additionalData: domainID.recordContext(name))
    } catch { throw .altered(.record(domainID.container, domain: domainID.domain, name: name)) }
  }

  borrowing func sealRecord(_ name: String, _ secret: borrowing SecretBytes) throws -> [UInt8] {
    // With a wrong password this would overwrite the record with a wrong one, undetected.
    guard silent == nil else { throw VaultFailure.silentDomain(domainID.domain) }
    return try AESGCM.sealCombined(secret, key: masterKey, additionalData: domainID.recordContext(name))
  }
}

/// The duration of opening a domain, in two parts.
package struct UnlockTiming: Sendable, Hashable {
  package let total: Duration
  /// The deliberately slow part, which derives a key from the password; zero without a password.
  package let keyDerivation: Duration

  /// The remaining time: storage, hardware and fast cryptography.
  package var overhead: Duration { total - keyDerivation }
}
