public import SignetCrypto

/// A keystore that makes signing keys and never lets them out.
public protocol SigningKeystore: HardwareKeystore {
  /// Makes a P-256 key in the hardware.
  ///
  /// - Parameter authorization: What is asked for with each signature. It is not sent to the hardware but to make the key, and
  ///   whoever has it and the blob can have anything signed on this device: keep it where only those who may sign get at it.
  /// - Returns: The blob that stands for the key, and the public key.
  /// - Throws: ``KeystoreFailure``.
  func makeSigningKey(authorization: borrowing SecretBytes) throws(KeystoreFailure) -> HardwareSigningKey

  /// Signs a digest with ECDSA; ``SignetCrypto/P256`` verifies the signature over the message that was hashed.
  ///
  /// - Parameters:
  ///   - digest: SHA-256 of the message, 32 bytes.
  ///   - blob: The key, as ``makeSigningKey(authorization:)`` returned it.
  ///   - authorization: What the key was made with.
  /// - Returns: The signature.
  /// - Throws: ``KeystoreFailure``: `refused` if the blob was changed or the authorization is another.
  /// - Precondition: The digest has 32 bytes.
  func signature(
    ofDigest digest: [UInt8], with blob: [UInt8], authorization: borrowing SecretBytes
  ) throws(KeystoreFailure) -> ECDSASignature
}

/// A signing key that a keystore made.
public struct HardwareSigningKey: Sendable, Hashable {
  /// What stands for the key, to be kept anywhere; of use with this keystore on this device only.
  public let blob: [UInt8]
  /// The public key.
  public let publicKey: P256.Signing.PublicKey

  /// Puts the two together.
  public init(blob: [UInt8], publicKey: P256.Signing.PublicKey) {
    (self.blob, self.publicKey) = (blob, publicKey)
  }
}
