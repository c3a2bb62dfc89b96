public import SignetCrypto

/// A software key prepared for signing many messages.
public struct SigningKey: Sendable {
  /// The `kid`, which is written to the header.
  public let keyID: String?
  /// The algorithm of the key.
  public let algorithm: SignatureAlgorithm
  private let material: Material

  private enum Material: Sendable {
    case p256(P256.Signing.PrivateKey)
    case hmac(HMACKey)
    case rsa(RSA.PrivateKey)
  }

  /// Prepares a P-256 key for ES256.
  ///
  /// - Parameters:
  ///   - key: The private key.
  ///   - keyID: The `kid`.
  public init(_ key: P256.Signing.PrivateKey, keyID: String? = nil) {
    material = .p256(key)
    algorithm = .es256
    self.keyID = keyID
  }

  /// Prepares an RSA key for RS256, the only algorithm that some services accept.
  ///
  /// - Parameters:
  ///   - key: The private key.
  ///   - keyID: The `kid`.
  public init(rs256 key: RSA.PrivateKey, keyID: String? = nil) {
    material = .rsa(key)
    algorithm = .rs256
    self.keyID = keyID
  }

  /// Prepares a shared key for HMAC.
  ///
  /// - Parameters:
  ///   - secret: The key, at least as long as the hash.
  ///   - algorithm: One of `HS256`, `HS384`, `HS512`.
  ///   - keyID: The `kid`.
  /// - Throws: ``JOSEFailure/weakKey``, ``JOSEFailure/keyNotPermitted``.
  public init(
    hmac secret: borrowing SecretBytes, _ algorithm: SignatureAlgorithm = .hs256, keyID: String? = nil
  ) throws(JOSEFailure) {
    material = .hmac(try algorithm.hmacKey(secret))
    (self.algorithm, self.keyID) = (algorithm, keyID)
  }

  /// Prepares an HMAC-SHA256 key that may be shorter than the hash, for protocols that issue such keys.
  ///
  /// RFC 7518 section 3.2 requires 32 bytes; ``init(hmac:_:keyID:)`` enforces that for Signet's own keys.
  package init(hs256 key: HMACKey) {
    precondition(key.hash == .sha256, "HS256 is HMAC with SHA-256")
    material = .hmac(key)
    algorithm = .hs256
    keyID = nil
  }

  /// Prepares a private or symmetric JWK, within the limits of its `use`, `key_ops` and `alg`.
  ///
  /// An `oct` key without `alg` signs with HS256.
  ///
  /// - Throws: ``JOSEFailure/privateKeyMissing``, ``JOSEFailure/keyNotPermitted``, ``JOSEFailure/weakKey``.
  public init(_ jwk: JWK) throws(JOSEFailure) {
    try jwk.require(.signature, anyOf: ["sign"])
    keyID = jwk.keyID
    switch jwk.material {
    case .p256(_, let scalar):
      guard let scalar else { throw .privateKeyMissing }
      _ = try jwk.permitted([.es256])
      do {
        material = .p256(try scalar.withSecret { try P256.Signing.PrivateKey(rawRepresentation: $0) })
      } catch {
        throw .invalidKey
      }
      algorithm = .es256
    case .symmetric(let box):
      let permitted = try jwk.permittedHMAC(box)
      let chosen = permitted.contains(.hs256) ? .hs256 : permitted.first ?? .hs256
      material = .hmac(box.withSecret { HMACKey($0, chosen.hash) })
      algorithm = chosen
    case .secp256k1, .rsa: throw .keyNotPermitted
    }
  }

  /// Returns the signature in the encoding of JWS.
  func signature(for message: [UInt8]) throws(JOSEFailure) -> [UInt8] {
    switch material {
    case .p256(let key):
      do {
        return try key.signature(for: message).rawRepresentation
      } catch {
        throw .cryptography(error)
      }
    case .hmac(let key): return key.authenticationCode(for: message)
    case .rsa(let key):
      do { return try key.signature(for: message, .sha256) } catch { throw .cryptography(error) }
    }
  }
}
