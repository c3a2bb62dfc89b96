package import SignetCrypto

extension Vault {
  /// Stores a record in an open domain; replaces one of the same name.
  ///
  /// - Throws: ``VaultFailure``.
  package func setRecord(
    _ name: String, to secret: borrowing SecretBytes, in unlocked: borrowing UnlockedDomain
  ) throws(VaultFailure) {
    guard DomainID.isName(name) else { throw .invalidName }
    do {
      let sealed = try unlocked.sealRecord(name, secret)
      let (domain, openedBy) = (unlocked.name, unlocked.openedBy)
      try tables.change(unlocked.container, isCounted: false) { rows in
        // The container may have been deleted or replaced since the domain was opened.
        _ = try rows.slot(domain, openedBy)
        try rows.setRecord(name, of: domain, to: sealed)
      }
    } catch { throw VaultFailure(error) }
  }

  /// Advances a counter, which is a record of 8 bytes, big-endian, and returns its previous value.
  ///
  /// The new value is on the disk before this returns, so no two calls, in any processes, get the same value.
  ///
  /// - Returns: The value before.
  /// - Throws: ``VaultFailure``.
  package func advanceCounter(
    _ name: String, in unlocked: borrowing UnlockedDomain
  ) throws(VaultFailure) -> UInt64 {
    do {
      let domain = unlocked.name
      return try tables.change(unlocked.container, isCounted: false) { rows in
        _ = try rows.attributes()
        guard let sealed = try rows.records(of: domain)[name] else {
          throw VaultFailure.noSuchRecord(name: name)
        }
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
        try rows.setRecord(name, of: domain, to: try unlocked.sealRecord(name, next))
        return value
      }
    } catch { throw VaultFailure(error) }
  }

  /// Returns the secret in a record; if the record does not exist, stores random bytes first.
  ///
  /// Concurrent calls, in any processes, return the same bytes.
  ///
  /// - Returns: The secret, with the length at its creation.
  /// - Throws: ``VaultFailure``.
  package func randomRecord(
    _ name: String, byteCount: Int, in unlocked: borrowing UnlockedDomain
  ) throws(VaultFailure) -> SecretBytes {
    guard DomainID.isName(name) else { throw .invalidName }
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
