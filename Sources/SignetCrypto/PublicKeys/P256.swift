/// The curve P-256 (FIPS 186-5, secp256r1), with separate key types for signing and for key agreement.
public enum P256 {
  /// The purpose of a key.
  public protocol Purpose: Sendable {}

  /// ECDSA with SHA-256: ES256 in JOSE.
  public enum Signing: Purpose {
    /// A key that verifies signatures.
    public typealias PublicKey = P256.PublicKey<Signing>
    /// A key that signs.
    public typealias PrivateKey = P256.PrivateKey<Signing>
  }

  /// ECDH (NIST SP 800-56A section 5.7.1.2).
  public enum KeyAgreement: Purpose {
    /// The peer's key.
    public typealias PublicKey = P256.PublicKey<KeyAgreement>
    /// The private key of this side.
    public typealias PrivateKey = P256.PrivateKey<KeyAgreement>
  }

  /// A public key: a point that is verified to be on the curve.
  ///
  /// Decoding costs a fraction of a verification; keep the value to verify many signatures.
  public struct PublicKey<Use: Purpose>: Sendable, Hashable {
    let key: ECPublicKey

    private static var purpose: ECPublicKey.Purpose { Use.self == Signing.self ? .verification : .agreement }

    /// Decodes an uncompressed point: 0x04, X and Y, 65 bytes (X9.62, SEC 1 section 2.3.4).
    ///
    /// - Throws: ``CryptoFailure/invalidPoint`` for compressed and hybrid forms, the point at infinity, wrong
    ///   lengths, coordinates outside the field and points that are not on the curve.
    public init(x963 point: [UInt8]) throws(CryptoFailure) {
      key = try ECPublicKey(.p256, point: point, for: Self.purpose)
    }

    /// Creates a key from its coordinates, each 32 bytes big-endian, as in a JWK (RFC 7518 section 6.2.1).
    ///
    /// - Throws: ``CryptoFailure/invalidPoint`` for another length or a point that is not on the curve.
    public init(x: [UInt8], y: [UInt8]) throws(CryptoFailure) {
      guard x.count == 32, y.count == 32 else { throw .invalidPoint }
      try self.init(x963: [0x04] + x + y)
    }

    /// Decodes a SubjectPublicKeyInfo in DER, 91 bytes (RFC 5480): named curve, uncompressed point.
    ///
    /// - Throws: ``CryptoFailure/invalidPublicKeyEncoding`` for anything else, ``CryptoFailure/invalidPoint``.
    public init(der: [UInt8]) throws(CryptoFailure) {
      key = try ECPublicKey(.p256, subjectPublicKeyInfo: der, for: Self.purpose)
    }

    /// Decodes a SubjectPublicKeyInfo in PEM, as ``pemRepresentation`` writes it (RFC 7468 section 13).
    ///
    /// - Throws: ``CryptoFailure/invalidPublicKeyEncoding`` for anything else, ``CryptoFailure/invalidPoint``.
    public init(pem: String) throws(CryptoFailure) {
      guard pem.utf8.count <= 1024, let der = PEM.decode(pem, labels: ["PUBLIC KEY"]) else {
        throw .invalidPublicKeyEncoding
      }
      try self.init(der: der)
    }

    /// The uncompressed point: 0x04, X and Y, 65 bytes.
    public var x963Representation: [UInt8] { key.point }

    /// The X coordinate, 32 bytes big-endian.
    public var x: [UInt8] { Array(key.point[1...32]) }

    /// The Y coordinate, 32 bytes big-endian.
    public var y: [UInt8] { Array(key.point[33...64]) }

    /// The SubjectPublicKeyInfo in DER, 91 bytes (RFC 5480).
    public var derRepresentation: [UInt8] { key.subjectPublicKeyInfo }

    /// The SubjectPublicKeyInfo in PEM (RFC 7468 section 13).
    public var pemRepresentation: String { PEM.encode(derRepresentation, label: "PUBLIC KEY") }

    /// Compares the points.
    public static func == (left: Self, right: Self) -> Bool { left.key.point == right.key.point }

    /// Hashes the point.
    public func hash(into hasher: inout Hasher) { hasher.combine(key.point) }
  }

  /// A private key with its public key.
  ///
  /// The scalar is wiped when the last copy is released.
  public struct PrivateKey<Use: Purpose>: Sendable {
    let key: ECPrivateKey
    /// The corresponding public key.
    public let publicKey: PublicKey<Use>

    private init(_ key: ECPrivateKey) throws(CryptoFailure) {
      self.key = key
      publicKey = try PublicKey(x963: key.point)
    }

    /// Creates a new key.
    ///
    /// The process ends if the system has no randomness or memory: continuing would not be safe.
    public init() {
      do throws(CryptoFailure) {
        try self.init(ECPrivateKey(signs: Use.self == Signing.self))
      } catch {
        preconditionFailure("a P-256 key cannot be made: \(error)")
      }
    }

    /// Creates a key from its private scalar, 32 bytes big-endian, and computes the public key.
    ///
    /// - Throws: ``CryptoFailure/invalidPrivateKey`` for another length, for zero, and for the order or more.
    public init(rawRepresentation: borrowing SecretBytes) throws(CryptoFailure) {
      try self.init(
        rawRepresentation.withUInt8Span { (scalar) throws(CryptoFailure) in
          try ECPrivateKey(scalar: scalar, signs: Use.self == Signing.self)
        })
    }

    /// Parses a private key in PEM without a passphrase: PKCS #8 (RFC 5958) or SEC 1 (RFC 5915).
    ///
    /// - Throws: ``CryptoFailure/invalidPrivateKey`` if the text is not a key on this curve.
    public init(pem: borrowing SecretBytes) throws(CryptoFailure) {
      try self.init(rawRepresentation: EllipticCurve.p256Scalar(of: PrivateKeyPEM.read(pem)))
    }

    /// The private scalar, 32 bytes big-endian.
    public var rawRepresentation: SecretBytes {
      do throws(CryptoFailure) {
        return try key.scalar()
      } catch {
        preconditionFailure("a P-256 key has no scalar: \(error)")
      }
    }
  }
}

extension P256.PublicKey where Use == P256.Signing {
  /// Verifies this key's signature of a message with SHA-256.
  public func isValidSignature(_ signature: ECDSASignature, for message: [UInt8]) -> Bool {
    key.isValidSignature(signature, for: message)
  }

  /// Verifies this key's signature of the message with this SHA-256 digest.
  package func isValidSignature(_ signature: ECDSASignature, forDigest digest: [UInt8]) -> Bool {
    key.isValidSignature(signature, forDigest: digest)
  }
}

extension P256.PrivateKey where Use == P256.Signing {
  /// Signs `message` with SHA-256.
  ///
  /// - Throws: ``CryptoFailure/library(function:code:)`` if memory or randomness is unavailable.
  public func signature(for message: [UInt8]) throws(CryptoFailure) -> ECDSASignature {
    try key.signature(for: message)
  }
}

extension P256.PrivateKey where Use == P256.KeyAgreement {
  /// Computes the shared secret with `peer`: the X coordinate, 32 bytes big-endian.
  ///
  /// Use it only as the input of a key derivation.
  ///
  /// - Throws: ``CryptoFailure/library(function:code:)`` if memory runs out.
  public func sharedSecret(with peer: P256.KeyAgreement.PublicKey) throws(CryptoFailure) -> SecretBytes {
    try key.sharedSecret(with: peer.key)
  }
}
