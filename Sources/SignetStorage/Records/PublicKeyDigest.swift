import SignetCrypto

/// The SHA-256 digest that identifies a public key of any kind of authenticator.
///
/// For a key on an elliptic curve its input is the uncompressed point, X9.63, which is the format of containers' keys; for
/// an RSA key it is the SubjectPublicKeyInfo. So a key has one digest, independent of the authenticator's encoding.
public struct PublicKeyDigest: Hashable, Sendable {
  /// 32 bytes.
  public let bytes: [UInt8]

  /// Computes the digest of a key.
  ///
  /// - Parameter key: The point or the SubjectPublicKeyInfo.
  public init(of key: [UInt8]) { bytes = HashFunction.sha256.digest(of: key) }
}
