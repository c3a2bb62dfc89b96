/// The curve secp256k1 (SEC 2), with which some FIDO UAF authenticators sign; verification only.
public enum Secp256k1 {
  /// A public key: a point that is verified to be on the curve.
  public struct PublicKey: Sendable, Hashable {
    private let key: ECPublicKey

    /// Decodes an uncompressed point: 0x04, X and Y, 65 bytes (SEC 1 section 2.3.4).
    ///
    /// - Throws: ``CryptoFailure/invalidPoint`` for any other form and for points that are not on the curve.
    public init(x963 point: [UInt8]) throws(CryptoFailure) {
      key = try ECPublicKey(.secp256k1, point: point, for: .verification)
    }

    /// Decodes a SubjectPublicKeyInfo in DER, 88 bytes (RFC 5480): named curve, uncompressed point.
    ///
    /// - Throws: ``CryptoFailure/invalidPublicKeyEncoding`` for anything else, ``CryptoFailure/invalidPoint``.
    public init(der: [UInt8]) throws(CryptoFailure) {
      key = try ECPublicKey(.secp256k1, subjectPublicKeyInfo: der, for: .verification)
    }

    /// The uncompressed point: 0x04, X and Y, 65 bytes.
    public var x963Representation: [UInt8] { key.point }

    /// The SubjectPublicKeyInfo in DER, 88 bytes (RFC 5480).
    public var derRepresentation: [UInt8] { key.subjectPublicKeyInfo }

    /// Verifies this key's signature of a message with SHA-256.
    public func isValidSignature(_ signature: ECDSASignature, for message: [UInt8]) -> Bool {
      key.isValidSignature(signature, for: message)
    }

    /// Verifies this key's signature of the message with this SHA-256 digest.
    package func isValidSignature(_ signature: ECDSASignature, forDigest digest: [UInt8]) -> Bool {
      key.isValidSignature(signature, forDigest: digest)
    }

    /// Compares the points.
    public static func == (left: Self, right: Self) -> Bool { left.key.point == right.key.point }

    /// Hashes the point.
    public func hash(into hasher: inout Hasher) { hasher.combine(key.point) }
  }
}
