package import SignetCrypto

/// The reasons why bytes are no public key for an algorithm.
package enum UAFKeyFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The algorithm is unsupported.
  case algorithm(UAFAlgorithm)
  /// The format is unknown, or not one for the algorithm.
  case format(UAFKeyFormat, UAFAlgorithm)
  /// The key is invalid: not on the curve, not of 2048 bits, or not in DER.
  case key(CryptoFailure)

  package var description: String {
    switch self {
    case .algorithm(let algorithm): "the signature algorithm \(algorithm) is not supported"
    case .format(let format, let algorithm):
      "\(format) is not a key format for \(algorithm): use \(algorithm.keyFormats)"
    case .key(let failure): "the public key: \(failure)"
    }
  }
}

/// A validated public key, ready for verifying many signatures.
package enum UAFPublicKey: Hashable, Sendable {
  case p256(P256.Signing.PublicKey)
  case secp256k1(Secp256k1.PublicKey)
  case rsa(RSA.PublicKey)

  /// Parses a key in an authenticator's encoding.
  ///
  /// - Throws: ``UAFKeyFailure`` if the algorithm, the format or the key is invalid.
  package init(
    _ bytes: [UInt8], format: UAFKeyFormat, for algorithm: UAFAlgorithm
  ) throws(UAFKeyFailure) {
    guard let scheme = algorithm.scheme else { throw .algorithm(algorithm) }
    guard scheme.keyFormats.contains(format) else { throw .format(format, algorithm) }
    let isDER = format == .x962DER || format == .rsa2048DER
    do throws(CryptoFailure) {
      switch scheme {
      case .p256:
        self = .p256(
          isDER ? try P256.Signing.PublicKey(der: bytes) : try P256.Signing.PublicKey(x963: bytes))
      case .secp256k1:
        self = .secp256k1(
          isDER ? try Secp256k1.PublicKey(der: bytes) : try Secp256k1.PublicKey(x963: bytes))
      case .rsaPSS, .rsaPKCS1: self = .rsa(isDER ? try Self.derRSA(bytes) : try Self.rawRSA(bytes))
      }
    } catch {
      throw .key(error)
    }
  }

  /// Parses a SubjectPublicKeyInfo of a certificate for an algorithm.
  ///
  /// - Throws: ``UAFKeyFailure`` if the algorithm or the key is invalid.
  package init(subjectPublicKeyInfo der: [UInt8], for algorithm: UAFAlgorithm) throws(UAFKeyFailure) {
    guard let scheme = algorithm.scheme else { throw .algorithm(algorithm) }
    do throws(CryptoFailure) {
      switch scheme {
      case .p256: self = .p256(try P256.Signing.PublicKey(der: der))
      case .secp256k1: self = .secp256k1(try Secp256k1.PublicKey(der: der))
      case .rsaPSS, .rsaPKCS1: self = .rsa(try RSA.PublicKey(der: der))
      }
    } catch {
      throw .key(error)
    }
  }

  /// The canonical encoding, equal for equal keys in any encoding of an authenticator: the uncompressed X9.63 point, or the
  /// SubjectPublicKeyInfo of an RSA key.
  package var canonicalBytes: [UInt8] {
    switch self {
    case .p256(let key): key.x963Representation
    case .secp256k1(let key): key.x963Representation
    case .rsa(let key): key.derRepresentation
    }
  }

  /// Parses a modulus of 256 bytes followed by the exponent.
  private static func rawRSA(_ bytes: [UInt8]) throws(CryptoFailure) -> RSA.PublicKey {
    guard (257...264).contains(bytes.count) else { throw .invalidPublicKeyEncoding }
    return try of2048Bits(RSA.PublicKey(n: Array(bytes[..<256]), e: Array(bytes[256...])))
  }

  /// Parses a SubjectPublicKeyInfo or an RSAPublicKey: the registry's text allows both, and no encoding is both.
  private static func derRSA(_ bytes: [UInt8]) throws(CryptoFailure) -> RSA.PublicKey {
    let key: RSA.PublicKey
    do throws(CryptoFailure) {
      key = try RSA.PublicKey(der: bytes)
    } catch {
      guard error == .invalidPublicKeyEncoding else { throw error }
      key = try RSA.PublicKey(pkcs1: bytes)
    }
    return try of2048Bits(key)
  }

  private static func of2048Bits(_ key: RSA.PublicKey) throws(CryptoFailure) -> RSA.PublicKey {
    let bits = key.n.count * 8 - (key.n.first?.leadingZeroBitCount ?? 0)
    guard bits == 2048 else { throw .rsaModulus(bits: bits) }
    return key
  }

  /// Verifies this key's signature of the bytes in a range of a message.
  ///
  /// - Parameters:
  ///   - signature: The signature in the authenticator's encoding, raw or DER.
  ///   - algorithm: The claimed algorithm; the signature is invalid if it is not one of this key.
  ///   - message: The array that contains the signed bytes.
  ///   - range: The range of the signed bytes.
  ///   - isStrict: True to require minimal integers in DER; some authenticators omit a leading zero.
  /// - Returns: True if the signature verifies.
  package func isValidSignature(
    _ signature: [UInt8], _ algorithm: UAFAlgorithm, of message: [UInt8], in range: Range<Int>,
    isStrict: Bool = false
  ) -> Bool {
    let digest = unsafe HashFunction.sha256.digest(of: message.span.bytes.extracting(range))
    switch (self, algorithm.scheme) {
    case (.p256(let key), .p256):
      guard let pair = Self.pair(signature, algorithm, isStrict) else { return false }
      return key.isValidSignature(pair, forDigest: digest)
    case (.secp256k1(let key), .secp256k1):
      guard let pair = Self.pair(signature, algorithm, isStrict) else { return false }
      return key.isValidSignature(pair, forDigest: digest)
    case (.rsa(let key), .rsaPSS):
      guard let raw = Self.octets(signature, algorithm) else { return false }
      return key.isValidSignature(raw, forDigest: digest, padding: .pss(.sha256, saltLength: 32))
    case (.rsa(let key), .rsaPKCS1):
      guard let raw = Self.octets(signature, algorithm) else { return false }
      return key.isValidSignature(raw, forDigest: digest, padding: .pkcs1(.sha256))
    default: return false
    }
  }

  private static func pair(
    _ bytes: [UInt8], _ algorithm: UAFAlgorithm, _ isStrict: Bool
  ) -> ECDSASignature? {
    do throws(CryptoFailure) {
      if !algorithm.isDER { return try ECDSASignature(rawRepresentation: bytes) }
      return isStrict
        ? try ECDSASignature(derRepresentation: bytes) : try ECDSASignature(looseDERRepresentation: bytes)
    } catch {
      return nil
    }
  }

  /// Returns the bytes of an RSA signature, unwrapped from a DER OCTET STRING if the algorithm wraps them.
  private static func octets(_ bytes: [UInt8], _ algorithm: UAFAlgorithm) -> [UInt8]? {
    guard algorithm.isDER else { return bytes }
    guard bytes.count > 4, bytes[0] == 0x04, bytes[1] == 0x82, bytes[2] != 0,
      Int(bytes[2]) << 8 | Int(bytes[3]) == bytes.count - 4
    else { return nil }
    return Array(bytes[4...])
  }
}
