public import SignetCrypto

/// A key made ready to sign many messages, in software.
public struct SigningKey: Sendable {
  /// `kid`, which goes into the header.
  public let keyID: String?
  /// The one algorithm of the key.
  public let algorithm: SignatureAlgorithm
  private let material: Material

  private enum Material: Sendable {
    case p256(P256.Signing.PrivateKey)
    case hmac(HMACKey)
    case rsa(RSA.PrivateKey)
  }

  /// Makes a P-256 key ready for ES256.
  ///
  /// - Parameters:
  ///   - key: The private key.
  ///   - keyID: `kid`.
  public init(_ key: P256.Signing.PrivateKey, keyID: String? = nil) {
    (material, algorithm, self.keyID) = (.p256(key), .es256, keyID)
  }

  /// Makes an RSA key ready for RS256, which is all that some services take.
  ///
  /// - Parameters:
  ///   - key: The private key.
  ///   - keyID: `kid`.
  public init(rs256 key: RSA.PrivateKey, keyID: String? = nil) {
    (material, algorithm, self.keyID) = (.rsa(key), .rs256, keyID)
  }

  /// Makes a shared key ready for HMAC.
  ///
  /// - Parameters:
  ///   - secret: The key, at least as long as the hash.
  ///   - algorithm: One of `HS256`, `HS384`, `HS512`.
  ///   - keyID: `kid`.
  /// - Throws: ``JOSEFailure/weakKey``, ``JOSEFailure/keyNotPermitted``.
  public init(
    hmac secret: borrowing SecretBytes, _ algorithm: SignatureAlgorithm = .hs256, keyID: String? = nil
  ) throws(JOSEFailure) {
    material = .hmac(try algorithm.hmacKey(secret))
    (self.algorithm, self.keyID) = (algorithm, keyID)
  }

  /// Makes a key of HMAC-SHA256 ready that may be shorter than the hash: for protocols that give such keys out.
  ///
  /// RFC 7518 section 3.2 wants 32 bytes; where we choose the key, ``init(hmac:_:keyID:)`` sees to it.
  package init(hs256 key: HMACKey) {
    precondition(key.hash == .sha256, "HS256 is HMAC with SHA-256")
    (material, algorithm, keyID) = (.hmac(key), .hs256, nil)
  }

  /// Makes a private or symmetric JWK ready, as far as its `use`, `key_ops` and `alg` permit; an `oct` key without
  /// `alg` signs with HS256.
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

  /// The signature in the form of JWS.
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
