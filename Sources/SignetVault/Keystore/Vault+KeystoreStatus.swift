extension Vault {
  /// What the keystore says of itself; nothing is opened.
  ///
  /// - Returns: The kind, and for hardware its maker, its defence against guessing and how much of it is in use.
  /// - Throws: ``VaultFailure/keystore(_:)`` if it cannot be asked.
  public func keystoreStatus() throws(VaultFailure) -> KeystoreStatus {
    do throws(KeystoreFailure) { return try keystore.status() } catch { throw .keystore(error) }
  }
}
