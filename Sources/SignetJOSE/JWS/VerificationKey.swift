public import SignetCrypto

/// A key made ready to verify many signatures or MACs.
public struct VerificationKey: Sendable {
  /// `kid` of the key.
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

  /// Makes a P-256 key ready for ES256.
  ///
  /// - Parameters:
  ///   - key: The public key.
  ///   - keyID: `kid`.
  public init(_ key: P256.Signing.PublicKey, keyID: String? = nil) {
    (material, algorithms, self.keyID) = (.p256(key), [.es256], keyID)
  }

  /// Makes a shared key ready for HMAC.
  ///
  /// - Parameters:
  ///   - secret: The key, at least as long as the hash.
  ///   - algorithm: One of `HS256`, `HS384`, `HS512`.
  ///   - keyID: `kid`.
  /// - Throws: ``JOSEFailure/weakKey`` for a key that is too short (RFC 7518 section 3.2),
  ///   ``JOSEFailure/keyNotPermitted`` for an algorithm that is no HMAC.
  public init(
    hmac secret: borrowing SecretBytes, _ algorithm: SignatureAlgorithm = .hs256, keyID: String? = nil
  ) throws(JOSEFailure) {
    material = .hmac([algorithm: try algorithm.hmacKey(secret)])
    (algorithms, self.keyID) = ([algorithm], keyID)
  }

  /// Makes a key of HMAC-SHA256 ready that may be shorter than the hash: for protocols that give such keys out.
  package init(hs256 key: HMACKey) {
    precondition(key.hash == .sha256, "HS256 is HMAC with SHA-256")
    (material, algorithms, keyID) = (.hmac([.hs256: key]), [.hs256], nil)
  }

  /// Makes a JWK ready, as far as its `use`, `key_ops` and `alg` permit.
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

  /// Whether the signature fits; false for one of the wrong length or form.
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

  /// A signature that is not 64 bytes, R before S, is no signature (RFC 7518 section 3.4).
  private static func withECDSA(_ raw: [UInt8], _ body: (ECDSASignature) -> Bool) -> Bool {
    do {
      return body(try ECDSASignature(rawRepresentation: raw))
    } catch {
      return false
    }
  }
}

extension SignatureAlgorithm {
  /// A key for this HMAC that is long enough.
  func hmacKey(_ secret: borrowing SecretBytes) throws(JOSEFailure) -> HMACKey {
    guard Self.hmac.contains(self) else { throw .keyNotPermitted }
    guard secret.byteCount >= hash.byteCount else { throw .weakKey }
    return HMACKey(secret, hash)
  }
}
