public import SignetCrypto

/// A software key prepared for decrypting many JWEs.
public struct DecryptionKey: Sendable {
  /// The `kid` of the key.
  public let keyID: String?
  /// The values of `alg` that the key's type, length and `alg` permit; never empty.
  public var keyAlgorithms: Set<KeyManagementAlgorithm> { permission.keyAlgorithms }
  /// The values of `enc` that the key permits: all, unless a shared key itself is the content key.
  public var contentAlgorithms: Set<ContentEncryptionAlgorithm> { permission.contentAlgorithms }
  let permission: EncryptionPermission
  let material: Material

  enum Material: Sendable {
    case p256(P256.KeyAgreement.PrivateKey)
    case symmetric(SharedSecretBox)
  }

  /// Prepares a P-256 key for the algorithms with a key agreement.
  ///
  /// - Parameters:
  ///   - key: The private key.
  ///   - keyID: The `kid`.
  public init(_ key: P256.KeyAgreement.PrivateKey, keyID: String? = nil) {
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

  /// Prepares a private or symmetric JWK, within the limits of its `use`, `key_ops` and `alg`.
  ///
  /// - Throws: ``JOSEFailure/privateKeyMissing``, ``JOSEFailure/keyNotPermitted``.
  public init(_ jwk: JWK) throws(JOSEFailure) {
    switch jwk.material {
    case .p256(_, let scalar):
      try jwk.require(.encryption, anyOf: ["deriveKey", "deriveBits"])
      guard let scalar else { throw .privateKeyMissing }
      permission = try EncryptionPermission(agreeingWith: jwk.algorithm)
      do {
        material = .p256(try scalar.withSecret { try P256.KeyAgreement.PrivateKey(rawRepresentation: $0) })
      } catch {
        throw .invalidKey
      }
    case .symmetric(let box):
      try jwk.require(.encryption, anyOf: ["decrypt", "unwrapKey"])
      permission = try EncryptionPermission(
        sharedKeyByteCount: box.withSecret { $0.byteCount }, algorithm: jwk.algorithm)
      material = .symmetric(box)
    case .secp256k1, .rsa: throw .keyNotPermitted
    }
    keyID = jwk.keyID
  }
}
