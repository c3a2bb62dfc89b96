package import SignetCrypto

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
      let (domain, openedBy) = (unlocked.name, unlocked.openedBy)
      let fresh = try unlocked.sealRecord(name, .random(byteCount: byteCount))
      let sealed = try tables.change(unlocked.container, isCounted: false) { rows in
        // The container may have been deleted or replaced since the domain was opened.
        _ = try rows.slot(domain, openedBy)
        if let stored = try rows.records(of: domain)[name] { return stored }
        try rows.setRecord(name, of: domain, to: fresh)
        return fresh
      }
      return try unlocked.openRecord(name, sealed)
    } catch { throw VaultFailure(error) }
  }
}
