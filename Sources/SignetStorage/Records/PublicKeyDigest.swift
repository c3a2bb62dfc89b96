import SignetCrypto

/// What tells public keys apart, of whatever kind of authenticator: SHA-256.
///
/// Of a key on an elliptic curve it is that of the point, X9.63 and not compressed, which is how containers have their keys; of an RSA
/// key that of the SubjectPublicKeyInfo. So a key has one digest, however an authenticator writes it.
public struct PublicKeyDigest: Hashable, Sendable {
  /// 32 bytes.
  public let bytes: [UInt8]

  /// The digest of a key.
  ///
  /// - Parameter key: The point or the SubjectPublicKeyInfo.
  public init(of key: [UInt8]) { bytes = HashFunction.sha256.digest(of: key) }
}
