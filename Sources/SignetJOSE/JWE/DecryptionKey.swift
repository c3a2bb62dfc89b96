public import SignetCrypto

/// A key made ready to decrypt many JWEs, in software.
public struct DecryptionKey: Sendable {
  /// `kid` of the key.
  public let keyID: String?
  /// The values of `alg` that the key's type, length and `alg` permit; never empty.
  public let keyAlgorithms: Set<KeyManagementAlgorithm>
  /// The values of `enc` that the key permits: all, unless a shared key is itself the content key.
  public let contentAlgorithms: Set<ContentEncryptionAlgorithm>
  let material: Material

  enum Material: Sendable {
    case p256(P256.KeyAgreement.PrivateKey)
    case symmetric(SharedSecretBox)
  }

  /// Makes a P-256 key ready for the algorithms that agree a key.
  ///
  /// - Parameters:
  ///   - key: The private key.
  ///   - keyID: `kid`.
  public init(_ key: P256.KeyAgreement.PrivateKey, keyID: String? = nil) {
    (material, self.keyID) = (.p256(key), keyID)
    (keyAlgorithms, contentAlgorithms) = (
      KeyManagementAlgorithm.agreeing, Set(ContentEncryptionAlgorithm.allCases)
    )
  }

  /// Makes a shared key ready for those algorithms that take a key of its length.
  ///
  /// - Parameters:
  ///   - secret: The key, 16, 24, 32 or 64 bytes.
  ///   - keyID: `kid`.
  /// - Throws: ``JOSEFailure/keyNotPermitted`` for another length.
  public init(_ secret: SharedSecretBox, keyID: String? = nil) throws(JOSEFailure) {
    let permission = try EncryptionPermission(
      sharedKeyByteCount: secret.withSecret { $0.byteCount }, algorithm: nil)
    (material, self.keyID) = (.symmetric(secret), keyID)
    (keyAlgorithms, contentAlgorithms) = (permission.keyAlgorithms, permission.contentAlgorithms)
  }

  /// Makes a private or symmetric JWK ready, as far as its `use`, `key_ops` and `alg` permit.
  ///
  /// - Throws: ``JOSEFailure/privateKeyMissing``, ``JOSEFailure/keyNotPermitted``.
  public init(_ jwk: JWK) throws(JOSEFailure) {
    let permission: EncryptionPermission
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
    (keyAlgorithms, contentAlgorithms) = (permission.keyAlgorithms, permission.contentAlgorithms)
    keyID = jwk.keyID
  }

  func permits(_ algorithm: KeyManagementAlgorithm, _ encryption: ContentEncryptionAlgorithm) -> Bool {
    EncryptionPermission.permits(algorithm, encryption, keyAlgorithms, contentAlgorithms)
  }
}
