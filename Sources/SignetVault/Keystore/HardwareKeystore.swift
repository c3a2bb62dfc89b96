public import SignetCrypto

/// A keystore that holds the secret which binds a vault to its device.
///
/// A blob that ``seal(_:context:)`` returns can be stored anywhere: only the same keystore on the same device opens it.
/// Calls may block; the vault makes them on its own executor.
///
/// Optional capabilities are separate protocols: ``SigningKeystore``, ``GuessLimitingKeystore`` and ``CountingKeystore``.
/// Test for them with `as?`.
public protocol HardwareKeystore: Sendable {
  /// The kind of protection. The vault reports it to users and servers, and a server's policy can reject it.
  var kind: KeystoreKind { get }

  /// Encrypts a secret so that only this device can decrypt it.
  ///
  /// - Parameters:
  ///   - secret: At most 128 bytes.
  ///   - context: The purpose of the secret. The same bytes are needed to open it.
  /// - Returns: A blob; its length and form depend on the keystore.
  /// - Throws: ``KeystoreFailure``.
  func seal(_ secret: borrowing SecretBytes, context: [UInt8]) throws(KeystoreFailure) -> [UInt8]

  /// Opens a blob of ``seal(_:context:)``.
  ///
  /// - Throws: ``KeystoreFailure/refused`` if the blob was changed, is for another context or comes from another device.
  func unseal(_ blob: [UInt8], context: [UInt8]) throws(KeystoreFailure) -> SecretBytes

  /// The keystore's status, for administrators of the device; nothing is unsealed.
  ///
  /// - Throws: ``KeystoreFailure`` if the keystore cannot be queried.
  func status() throws(KeystoreFailure) -> KeystoreStatus
}

extension HardwareKeystore {
  /// A status with the kind only.
  public func status() throws(KeystoreFailure) -> KeystoreStatus { KeystoreStatus(kind: kind) }
}
