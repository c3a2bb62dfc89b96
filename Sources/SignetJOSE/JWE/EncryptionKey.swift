public import SignetCrypto

/// A key prepared for encrypting many JWEs.
public struct EncryptionKey: Sendable {
  /// The `kid`, which is written to the header.
  public let keyID: String?
  /// The values of `alg` that the key's type, length and `alg` permit; never empty.
  public var keyAlgorithms: Set<KeyManagementAlgorithm> { permission.keyAlgorithms }
  let permission: EncryptionPermission
  let material: Material

  enum Material: Sendable {
    case p256(P256.KeyAgreement.PublicKey)
    case symmetric(SharedSecretBox)
  }

  /// Prepares the recipient's P-256 key for the algorithms with a key agreement.
  ///
  /// - Parameters:
  ///   - key: The recipient's public key.
  ///   - keyID: The `kid`.
  public init(_ key: P256.KeyAgreement.PublicKey, keyID: String? = nil) {
    material = .p256(key)
    self.keyID = keyID
    permission = EncryptionPermission()
  }

  /// Prepares a shared key for the algorithms with keys of its length.
  ///
  /// - Parameters:
  ///   - secret: The key, 16, 24, 32 or 64 bytes.
  ///   - keyID: The `kid`.
  /// - Throws: ``JOSEFailure/keyNotPermitted`` for another length.
  public init(_ secret: SharedSecretBox, keyID: String? = nil) throws(JOSEFailure) {
    permission = try EncryptionPermission(
      sharedKeyByteCount: secret.withSecret { $0.byteCount }, algorithm: nil)
    material = .symmetric(secret)
    self.keyID = keyID
  }

  /// Prepares a JWK, within the limits of its `use`, `key_ops` and `alg`.
  ///
  /// The `key_ops` of a public key on a curve may be empty, as Web Cryptography writes it.
  ///
  /// - Throws: ``JOSEFailure/keyNotPermitted``.
  public init(_ jwk: JWK) throws(JOSEFailure) {
    switch jwk.material {
    case .p256(let key, _):
      if jwk.operations?.isEmpty != true {
        try jwk.require(.encryption, anyOf: ["deriveKey", "deriveBits"])
      }
      permission = try EncryptionPermission(agreeingWith: jwk.algorithm)
      do {
        material = .p256(try P256.KeyAgreement.PublicKey(x963: key.x963Representation))
      } catch {
        throw .invalidKey
      }
    case .symmetric(let box):
      try jwk.require(.encryption, anyOf: ["encrypt", "wrapKey"])
      permission = try EncryptionPermission(
        sharedKeyByteCount: box.withSecret { $0.byteCount }, algorithm: jwk.algorithm)
      material = .symmetric(box)
    case .secp256k1, .rsa: throw .keyNotPermitted
    }
    keyID = jwk.keyID
  }
}
