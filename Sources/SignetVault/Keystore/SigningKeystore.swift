public import SignetCrypto

/// A keystore that makes signing keys and never exports them.
public protocol SigningKeystore: HardwareKeystore {
  /// Makes a P-256 key in the hardware.
  ///
  /// - Parameter authorization: The value required for each signature. It is sent to the hardware only to make the key. With
  ///   it and the blob, any program on this device can sign, so protect it.
  /// - Returns: The key's blob and the public key.
  /// - Throws: ``KeystoreFailure``.
  func makeSigningKey(authorization: borrowing SecretBytes) throws(KeystoreFailure) -> HardwareSigningKey

  /// Signs a digest with ECDSA; ``SignetCrypto/P256`` verifies the signature over the message that was hashed.
  ///
  /// - Parameters:
  ///   - digest: SHA-256 of the message, 32 bytes.
  ///   - blob: The key's blob, from ``makeSigningKey(authorization:)``.
  ///   - authorization: The value that the key was made with.
  /// - Returns: The signature.
  /// - Throws: ``KeystoreFailure``: `refused` if the blob was changed or the authorization differs.
  /// - Precondition: The digest has 32 bytes.
  func signature(
    ofDigest digest: [UInt8], with blob: [UInt8], authorization: borrowing SecretBytes
  ) throws(KeystoreFailure) -> ECDSASignature
}

/// A signing key that a keystore made.
public struct HardwareSigningKey: Sendable, Hashable {
  /// The key's blob, which can be stored anywhere: only this keystore on this device can use it.
  public let blob: [UInt8]
  /// The public key.
  public let publicKey: P256.Signing.PublicKey

  /// Creates a key from its blob and its public key.
  public init(blob: [UInt8], publicKey: P256.Signing.PublicKey) {
    (self.blob, self.publicKey) = (blob, publicKey)
  }
}
