package import SignetCrypto

extension Vault {
  /// Returns the secret in a record; if the record does not exist, stores random bytes first.
  ///
  /// Concurrent calls, in any processes, return the same bytes.
  ///
  /// - Returns: The secret, with the length at its creation.
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
