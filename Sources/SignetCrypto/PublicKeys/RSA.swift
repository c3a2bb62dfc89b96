/// RSA signatures (RFC 8017).
public enum RSA {
  /// The padding of a digest before the RSA operation.
  public enum Padding: Sendable, Hashable {
    /// RSASSA-PKCS1-v1_5 (section 8.2).
    case pkcs1(HashFunction)
    /// RSASSA-PSS with the same hash in MGF1 and a salt of exactly this many bytes (section 8.1).
    case pss(HashFunction, saltLength: Int)
  }

  /// A private key of 2048 to 8192 bits for services that require RSA; it signs with RSASSA-PKCS1-v1_5 (section 8.2).
  public struct PrivateKey: Sendable {
    private let key: RSAPrivateKey

    /// Parses a private key in PEM without a passphrase: PKCS #8 (RFC 5958) or PKCS #1 (RFC 8017 appendix A.1.2).
    ///
    /// - Throws: ``CryptoFailure/invalidPrivateKey`` if the text is not an RSA key, ``CryptoFailure/rsaModulus(bits:)``.
    public init(pem: borrowing SecretBytes) throws(CryptoFailure) { key = try RSAPrivateKey(pem: pem) }

    /// Signs a message; the signature is as long as the modulus.
    ///
    /// - Precondition: `hash` is not SHA-1.
    /// - Throws: ``CryptoFailure/library(function:code:)`` if memory runs out.
    public func signature(for message: [UInt8], _ hash: HashFunction) throws(CryptoFailure) -> [UInt8] {
      precondition(hash != .sha1, "SHA-1 signs nothing")
      return try key.signature(ofDigest: hash.digest(of: message), hash)
    }
  }

  /// A public key of 2048 to 8192 bits.
  public struct PublicKey: Sendable, Hashable {
    /// The modulus, big-endian without leading zeros.
    public let n: [UInt8]
    /// The public exponent, big-endian without leading zeros.
    public let e: [UInt8]
    private let key: RSAPublicKey

    /// Creates a key from modulus and exponent, big-endian; leading zeros are dropped.
    ///
    /// - Throws: ``CryptoFailure/rsaModulus(bits:)`` unless the modulus is odd and has 2048 to 8192 bits;
    ///   ``CryptoFailure/rsaExponent`` unless the exponent is odd, at least 3 and at most 32 bits long.
    public init(n: [UInt8], e: [UInt8]) throws(CryptoFailure) {
      let modulus = Array(n.drop { $0 == 0 })
      let exponent = Array(e.drop { $0 == 0 })
      let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
      guard (2048...8192).contains(bits), let last = modulus.last, last & 1 == 1 else {
        throw .rsaModulus(bits: bits)
      }
      // With an exponent of 1 every message is its own signature. An even exponent has no inverse, and a huge one only
      // wastes the processor's time.
      guard (1...4).contains(exponent.count), let end = exponent.last, end & 1 == 1, exponent != [1] else {
        throw .rsaExponent
      }
      (self.n, self.e) = (modulus, exponent)
      key = try RSAPublicKey(modulus: modulus, exponent: exponent)
    }

    /// Decodes a SubjectPublicKeyInfo with rsaEncryption in strict DER (RFC 3279 section 2.3.1).
    ///
    /// - Throws: ``CryptoFailure/invalidPublicKeyEncoding`` and the errors of ``init(n:e:)``.
    public init(der: [UInt8]) throws(CryptoFailure) {
      let numbers: (n: [UInt8], e: [UInt8])
      do throws(DERReader.Refusal) {
        var outer = DERReader(der)
        var info = try outer.readSequence()
        try outer.finish()
        try info.expect(Self.algorithmIdentifier)
        var bits = try info.readBitString()
        try info.finish()
        numbers = try Self.readNumbers(&bits)
      } catch {
        throw .invalidPublicKeyEncoding
      }
      try self.init(n: numbers.n, e: numbers.e)
    }

    /// Decodes an RSAPublicKey in strict DER (RFC 8017 appendix A.1.1).
    ///
    /// - Throws: ``CryptoFailure/invalidPublicKeyEncoding`` and the errors of ``init(n:e:)``.
    public init(pkcs1: [UInt8]) throws(CryptoFailure) {
      let numbers: (n: [UInt8], e: [UInt8])
      do throws(DERReader.Refusal) {
        var reader = DERReader(pkcs1)
        numbers = try Self.readNumbers(&reader)
      } catch {
        throw .invalidPublicKeyEncoding
      }
      try self.init(n: numbers.n, e: numbers.e)
    }

    /// The RSAPublicKey in DER (RFC 8017 appendix A.1.1).
    public var pkcs1Representation: [UInt8] {
      DERWriter.element(
        .sequence, DERWriter.unsignedInteger(n[...]) + DERWriter.unsignedInteger(e[...]))
    }

    /// The SubjectPublicKeyInfo in DER (RFC 3279 section 2.3.1).
    public var derRepresentation: [UInt8] {
      DERWriter.element(
        .sequence, Self.algorithmIdentifier + DERWriter.element(.bitString, [0] + pkcs1Representation))
    }

    /// Verifies this key's signature of a message; a signature with SHA-1 is always invalid.
    public func isValidSignature(_ signature: [UInt8], for message: [UInt8], padding: Padding) -> Bool {
      guard signature.count == n.count else { return false }
      return key.isValidSignature(signature, for: message, padding: padding)
    }

    /// Verifies this key's signature of the message with this digest, which the hash of `padding` made.
    package func isValidSignature(
      _ signature: [UInt8], forDigest digest: [UInt8], padding: Padding
    ) -> Bool {
      guard signature.count == n.count else { return false }
      return key.isValidSignature(signature, forDigest: digest, padding: padding)
    }

    /// Compares modulus and exponent.
    public static func == (left: Self, right: Self) -> Bool { left.n == right.n && left.e == right.e }

    /// Hashes modulus and exponent.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(n)
      hasher.combine(e)
    }

    /// The AlgorithmIdentifier of rsaEncryption with NULL parameters, as RFC 3279 requires.
    private static let algorithmIdentifier: [UInt8] = [
      0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]

    private static func readNumbers(
      _ reader: inout DERReader
    ) throws(DERReader.Refusal) -> (n: [UInt8], e: [UInt8]) {
      var sequence = try reader.readSequence()
      try reader.finish()
      let numbers = (n: try sequence.readUnsignedInteger(), e: try sequence.readUnsignedInteger())
      try sequence.finish()
      return numbers
    }
  }
}
