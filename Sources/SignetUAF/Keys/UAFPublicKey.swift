package import SignetCrypto

/// Why bytes are no public key for an algorithm.
package enum UAFKeyFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The algorithm is not supported.
  case algorithm(UAFAlgorithm)
  /// The format is not one of the registry, or not one for the algorithm.
  case format(UAFKeyFormat, UAFAlgorithm)
  /// The bytes are no such key: not on the curve, not of 2048 bits, not in DER.
  case key(CryptoFailure)

  package var description: String {
    switch self {
    case .algorithm(let algorithm): "the signature algorithm \(algorithm) is not supported"
    case .format(let format, let algorithm):
      "\(format) is no format for keys of \(algorithm): use \(algorithm.keyFormats)"
    case .key(let failure): "the public key: \(failure)"
    }
  }
}

/// A public key that was checked, ready for many signatures.
package enum UAFPublicKey: Hashable, Sendable {
  case p256(P256.Signing.PublicKey)
  case secp256k1(Secp256k1.PublicKey)
  case rsa(RSA.PublicKey)

  /// Reads a key as an authenticator writes it.
  ///
  /// - Throws: ``UAFKeyFailure``.
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

  /// Reads a SubjectPublicKeyInfo, as certificates have it, for an algorithm.
  ///
  /// - Throws: ``UAFKeyFailure``.
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

  /// The same bytes of the same key, however an authenticator writes it: the point, X9.63 and not compressed, or of an RSA key the
  /// SubjectPublicKeyInfo.
  package var canonicalBytes: [UInt8] {
    switch self {
    case .p256(let key): key.x963Representation
    case .secp256k1(let key): key.x963Representation
    case .rsa(let key): key.derRepresentation
    }
  }

  /// The modulus in 256 bytes and then the exponent.
  private static func rawRSA(_ bytes: [UInt8]) throws(CryptoFailure) -> RSA.PublicKey {
    guard (257...264).contains(bytes.count) else { throw .invalidPublicKeyEncoding }
    return try of2048Bits(RSA.PublicKey(n: Array(bytes[..<256]), e: Array(bytes[256...])))
  }

  /// A SubjectPublicKeyInfo or an RSAPublicKey: the registry's words allow both, and no bytes are both.
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

  /// Whether `signature` is this key's, with this algorithm, of the bytes in `range` of `message`.
  ///
  /// - Parameters:
  ///   - signature: As the authenticator wrote it, raw or in DER.
  ///   - algorithm: What it says that it is; another than the key's is not valid.
  ///   - message: Where the signed bytes lie.
  ///   - range: Which of them are signed.
  ///   - isStrict: Whether numbers in DER have to be minimal; some senders leave out a leading zero.
  /// - Returns: Whether it is valid.
  package func isValidSignature(
    _ signature: [UInt8], _ algorithm: UAFAlgorithm, of message: [UInt8], in range: Range<Int>,
    isStrict: Bool = false
  ) -> Bool {
    let digest = HashFunction.sha256.digest(of: message.span.bytes.extracting(range))
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

  /// The bytes of an RSA signature, taken out of an OCTET STRING in DER where the algorithm wraps them.
  private static func octets(_ bytes: [UInt8], _ algorithm: UAFAlgorithm) -> [UInt8]? {
    guard algorithm.isDER else { return bytes }
    guard bytes.count > 4, bytes[0] == 0x04, bytes[1] == 0x82, bytes[2] != 0,
      Int(bytes[2]) << 8 | Int(bytes[3]) == bytes.count - 4
    else { return nil }
    return Array(bytes[4...])
  }
}
