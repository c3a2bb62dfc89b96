public import SignetCrypto

/// What holds the secret that ties a vault to its device.
///
/// A blob that ``seal(_:context:)`` returns can be kept anywhere: only the same keystore on the same device opens it. Calls may
/// block; the vault makes them on an executor of its own.
///
/// What hardware can do beyond this are capabilities of their own: ``SigningKeystore``, ``GuessLimitingKeystore`` and
/// ``CountingKeystore``. Ask with `as?`.
public protocol HardwareKeystore: Sendable {
  /// What kind of protection this is. Users and servers are told, and a server's policy can refuse it.
  var kind: KeystoreKind { get }

  /// Encrypts a secret so that it is of use on this device only.
  ///
  /// - Parameters:
  ///   - secret: At most 128 bytes.
  ///   - context: What the secret is for. The same bytes are needed to open it.
  /// - Returns: A blob; its length and form are the keystore's own.
  /// - Throws: ``KeystoreFailure``.
  func seal(_ secret: borrowing SecretBytes, context: [UInt8]) throws(KeystoreFailure) -> [UInt8]

  /// Opens what ``seal(_:context:)`` returned.
  ///
  /// - Throws: ``KeystoreFailure/refused`` if the blob was changed, is for another context or comes from another device.
  func unseal(_ blob: [UInt8], context: [UInt8]) throws(KeystoreFailure) -> SecretBytes

  /// What can be said about the keystore, for people who look after the device; nothing is unsealed.
  ///
  /// - Throws: ``KeystoreFailure`` if the keystore cannot be asked.
  func status() throws(KeystoreFailure) -> KeystoreStatus
}

extension HardwareKeystore {
  /// The kind and nothing else.
  public func status() throws(KeystoreFailure) -> KeystoreStatus { KeystoreStatus(kind: kind) }
}
