extension Vault {
  /// The keystore's status; nothing is opened.
  ///
  /// - Returns: The kind; for hardware also its manufacturer, its lockout and the number of places in use.
  /// - Throws: ``VaultFailure/keystore(_:)`` if the keystore cannot be queried.
  public func keystoreStatus() throws(VaultFailure) -> KeystoreStatus {
    do throws(KeystoreFailure) { return try keystore.status() } catch { throw .keystore(error) }
  }
}
