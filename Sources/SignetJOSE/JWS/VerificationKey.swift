public import SignetCrypto

/// A key prepared for verifying many signatures or MACs.
public struct VerificationKey: Sendable {
  /// The `kid` of the key.
  public let keyID: String?
  /// The algorithms that the key's type, length and `alg` permit; never empty.
  public let algorithms: Set<SignatureAlgorithm>
  private let material: Material

  private enum Material: Sendable {
    case p256(P256.Signing.PublicKey)
    case secp256k1(Secp256k1.PublicKey)
    case rsa(RSA.PublicKey)
    case hmac([SignatureAlgorithm: HMACKey])
  }

  /// Prepares a P-256 key for ES256.
  ///
  /// - Parameters:
  ///   - key: The public key.
  ///   - keyID: The `kid`.
  public init(_ key: P256.Signing.PublicKey, keyID: String? = nil) {
    material = .p256(key)
    algorithms = [.es256]
    self.keyID = keyID
  }

  /// Prepares a shared key for HMAC.
  ///
  /// - Parameters:
  ///   - secret: The key, at least as long as the hash.
  ///   - algorithm: One of `HS256`, `HS384`, `HS512`.
  ///   - keyID: The `kid`.
  /// - Throws: ``JOSEFailure/weakKey`` for a key that is too short (RFC 7518 section 3.2),
  ///   ``JOSEFailure/keyNotPermitted`` for an algorithm that is no HMAC.
  public init(
    hmac secret: borrowing SecretBytes, _ algorithm: SignatureAlgorithm = .hs256, keyID: String? = nil
  ) throws(JOSEFailure) {
    material = .hmac([algorithm: try algorithm.hmacKey(secret)])
    (algorithms, self.keyID) = ([algorithm], keyID)
  }

  /// Prepares an HMAC-SHA256 key that may be shorter than the hash, for protocols that issue such keys.
  package init(hs256 key: HMACKey) {
    precondition(key.hash == .sha256, "HS256 is HMAC with SHA-256")
    material = .hmac([.hs256: key])
    algorithms = [.hs256]
    keyID = nil
  }

  /// Prepares a JWK, within the limits of its `use`, `key_ops` and `alg`.
  ///
  /// - Throws: ``JOSEFailure/keyNotPermitted``, ``JOSEFailure/weakKey``.
  public init(_ jwk: JWK) throws(JOSEFailure) {
    try jwk.require(.signature, anyOf: ["verify"])
    switch jwk.material {
    case .p256(let key, _):
      (material, algorithms) = (.p256(key), try jwk.permitted([.es256]))
    case .secp256k1(let key):
      (material, algorithms) = (.secp256k1(key), try jwk.permitted([.es256k]))
    case .rsa(let key):
      (material, algorithms) = (.rsa(key), try jwk.permitted(SignatureAlgorithm.rsa))
    case .symmetric(let box):
      algorithms = try jwk.permittedHMAC(box)
      var keys: [SignatureAlgorithm: HMACKey] = [:]
      for algorithm in algorithms {
        keys[algorithm] = box.withSecret { HMACKey($0, algorithm.hash) }
      }
      material = .hmac(keys)
    }
    keyID = jwk.keyID
  }

  /// Verifies a signature; one of the wrong length or form is invalid.
  func isValid(_ signature: [UInt8], for message: [UInt8], _ algorithm: SignatureAlgorithm) -> Bool {
    switch (material, algorithm) {
    case (.p256(let key), .es256):
      return Self.withECDSA(signature) { key.isValidSignature($0, for: message) }
    case (.secp256k1(let key), .es256k):
      return Self.withECDSA(signature) { key.isValidSignature($0, for: message) }
    case (.rsa(let key), .rs256), (.rsa(let key), .rs384), (.rsa(let key), .rs512):
      return key.isValidSignature(signature, for: message, padding: .pkcs1(algorithm.hash))
    case (.rsa(let key), .ps256), (.rsa(let key), .ps384), (.rsa(let key), .ps512):
      let padding = RSA.Padding.pss(algorithm.hash, saltLength: algorithm.hash.byteCount)
      return key.isValidSignature(signature, for: message, padding: padding)
    case (.hmac(let keys), _):
      return keys[algorithm]?.isValid(signature, for: message) ?? false
    default:
      return false
    }
  }

  /// Decodes a signature of 64 bytes, R before S; any other form is invalid (RFC 7518 section 3.4).
  private static func withECDSA(_ raw: [UInt8], _ body: (ECDSASignature) -> Bool) -> Bool {
    do {
      return body(try ECDSASignature(rawRepresentation: raw))
    } catch {
      return false
    }
  }
}

extension SignatureAlgorithm {
  /// Creates a key for this HMAC algorithm; throws if it is too short.
  func hmacKey(_ secret: borrowing SecretBytes) throws(JOSEFailure) -> HMACKey {
    guard Self.hmac.contains(self) else { throw .keyNotPermitted }
    guard secret.byteCount >= hash.byteCount else { throw .weakKey }
    return HMACKey(secret, hash)
  }
}
