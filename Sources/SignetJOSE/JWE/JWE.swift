public import SignetCrypto
import SignetJSON

/// A compact JWE as it arrived (RFC 7516 section 7.1): well formed, but not decrypted.
///
/// With the algorithms that agree a key, anyone who knows the public key can make a JWE: decrypting proves
/// nothing about the sender. Sign what is inside where that matters.
public struct JWE: Sendable {
  /// The protected header, which anyone may have written.
  public let header: JOSEHeader
  /// `enc`, as written.
  public let contentEncryptionName: String
  let encryptedKey: [UInt8]
  private let iv: [UInt8]
  private let ciphertext: [UInt8]
  private let tag: [UInt8]
  private let additionalData: [UInt8]

  /// Reads a compact serialization.
  ///
  /// - Parameters:
  ///   - compact: Five base64url parts with dots between them.
  ///   - maximumByteCount: The longest text.
  /// - Throws: ``JOSEFailure`` for what is malformed, and for `crit`, `b64` and `zip`.
  public init(
    compact: String, maximumByteCount: Int = JWS.standardLimit
  ) throws(JOSEFailure) {
    let segments = try CompactSegments(compact, count: 5, limit: maximumByteCount)
    header = try JOSEHeader(parsing: try segments.decoded(0, .header))
    do throws(JSONFailure) {
      contentEncryptionName = try header.parameters.string("enc")
    } catch {
      throw .malformedHeader(error)
    }
    if header.parameters.contains("zip") { throw .compressed }
    encryptedKey = try segments.decoded(1, .encryptedKey)
    iv = try segments.decoded(2, .initializationVector)
    ciphertext = try segments.decoded(3, .ciphertext)
    tag = try segments.decoded(4, .authenticationTag)
    additionalData = segments.through(0)
  }

  /// Decrypts with one key that the caller chose; the `kid` of the header plays no part.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - keyAlgorithms: The values of `alg` that the caller accepts; the message has no say in it.
  ///   - contentAlgorithms: The values of `enc` that the caller accepts.
  /// - Returns: The content and what protected it.
  /// - Throws: ``JOSEFailure``; ``JOSEFailure/decryptionFailed`` for everything that depends on the key.
  public func decrypted(
    with key: DecryptionKey, allowing keyAlgorithms: Set<KeyManagementAlgorithm>,
    _ contentAlgorithms: Set<ContentEncryptionAlgorithm>
  ) throws(JOSEFailure) -> DecryptedJWE {
    let (algorithm, encryption) = try allowed(keyAlgorithms, contentAlgorithms)
    guard key.permits(algorithm, encryption) else { throw .keyNotPermitted }
    switch key.material {
    case .p256(let privateKey):
      let ephemeral = try ephemeralPublicKey()
      let sharedSecret: SecretBytes
      do {
        sharedSecret = try privateKey.sharedSecret(with: ephemeral)
      } catch {
        throw .decryptionFailed
      }
      return try opened(algorithm, encryption, try agreedKey(sharedSecret, algorithm, encryption), key.keyID)
    case .symmetric(let box):
      return try box.withSecret { (secret) throws(JOSEFailure) in
        try opened(algorithm, encryption, secret.copy(), key.keyID)
      }
    }
  }

  /// Decrypts with a secret that was agreed elsewhere, such as in hardware, with ``ephemeralPublicKey()``.
  ///
  /// - Parameters:
  ///   - sharedSecret: The X coordinate, 32 bytes.
  ///   - keyAlgorithms: The values of `alg` that the caller accepts, of those that agree a key.
  ///   - contentAlgorithms: The values of `enc` that the caller accepts.
  /// - Returns: The content and what protected it.
  /// - Throws: ``JOSEFailure``; ``JOSEFailure/decryptionFailed`` for everything that depends on the key.
  public func decrypted(
    withSharedSecret sharedSecret: borrowing SecretBytes,
    allowing keyAlgorithms: Set<KeyManagementAlgorithm>,
    _ contentAlgorithms: Set<ContentEncryptionAlgorithm>
  ) throws(JOSEFailure) -> DecryptedJWE {
    let (algorithm, encryption) = try allowed(keyAlgorithms, contentAlgorithms)
    guard KeyManagementAlgorithm.agreeing.contains(algorithm) else { throw .keyNotPermitted }
    return try opened(algorithm, encryption, try agreedKey(sharedSecret, algorithm, encryption), nil)
  }

  /// The sender's ephemeral key from `epk`, found to be on P-256 (RFC 7518 section 4.6.1.1).
  ///
  /// - Throws: ``JOSEFailure/invalidKey``, ``JOSEFailure/unsupportedCurve``, ``JOSEFailure/malformedHeader(_:)``.
  public func ephemeralPublicKey() throws(JOSEFailure) -> P256.KeyAgreement.PublicKey {
    let object: JSONObject
    let (keyType, curve): (String, String)
    do throws(JSONFailure) {
      object = try header.parameters.object("epk")
      keyType = try object.string("kty")
      curve = try object.string("crv")
    } catch {
      throw .malformedHeader(error)
    }
    guard keyType == "EC", curve == "P-256" else { throw .unsupportedCurve }
    guard !object.contains("d") else { throw .invalidKey }
    let point = try JWK.point(of: object)
    do {
      return try P256.KeyAgreement.PublicKey(x963: point)
    } catch {
      throw .invalidKey
    }
  }

  private func allowed(
    _ keyAlgorithms: Set<KeyManagementAlgorithm>, _ contentAlgorithms: Set<ContentEncryptionAlgorithm>
  ) throws(JOSEFailure) -> (KeyManagementAlgorithm, ContentEncryptionAlgorithm) {
    guard let algorithm = KeyManagementAlgorithm(name: header.algorithm),
      let encryption = ContentEncryptionAlgorithm(name: contentEncryptionName)
    else { throw header.algorithm.utf8.elementsEqual("none".utf8) ? .unsecured : .unsupportedAlgorithm }
    guard keyAlgorithms.contains(algorithm), contentAlgorithms.contains(encryption) else {
      throw .algorithmNotAllowed
    }
    return (algorithm, encryption)
  }

  /// The content key, or the key that wraps it.
  private func agreedKey(
    _ sharedSecret: borrowing SecretBytes, _ algorithm: KeyManagementAlgorithm,
    _ encryption: ContentEncryptionAlgorithm
  ) throws(JOSEFailure) -> SecretBytes {
    let (partyUInfo, partyVInfo): ([UInt8], [UInt8])
    do throws(JSONFailure) {
      partyUInfo = try header.parameters.optionalBytes("apu") ?? []
      partyVInfo = try header.parameters.optionalBytes("apv") ?? []
    } catch {
      throw .malformedHeader(error)
    }
    return ConcatKDF.derive(
      sharedSecret,
      algorithm: algorithm.wrappingKeyByteCount == nil ? encryption.rawValue : algorithm.rawValue,
      partyUInfo: partyUInfo, partyVInfo: partyVInfo,
      byteCount: algorithm.wrappingKeyByteCount ?? encryption.keyByteCount)
  }

  private func opened(
    _ algorithm: KeyManagementAlgorithm, _ encryption: ContentEncryptionAlgorithm,
    _ key: consuming SecretBytes, _ keyID: String?
  ) throws(JOSEFailure) -> DecryptedJWE {
    guard iv.count == encryption.ivByteCount else { throw .wrongLength(.initializationVector) }
    guard tag.count == encryption.tagByteCount else { throw .wrongLength(.authenticationTag) }
    let contentKey: SecretBytes
    if algorithm.wrappingKeyByteCount == nil {
      guard encryptedKey.isEmpty else { throw .wrongLength(.encryptedKey) }
      contentKey = key
    } else {
      guard encryptedKey.count == encryption.keyByteCount + 8 else { throw .wrongLength(.encryptedKey) }
      contentKey = unwrapped(with: key, encryption)
    }
    do {
      let plaintext = try encryption.open(
        ciphertext, iv: iv, tag: tag, key: contentKey, additionalData: additionalData)
      return DecryptedJWE(
        header: header, plaintext: plaintext, keyAlgorithm: algorithm, contentAlgorithm: encryption,
        keyID: keyID)
    } catch {
      throw .decryptionFailed
    }
  }

  /// The content key; a random one where unwrapping fails, so that the failure shows only in the tag, as every other
  /// does (RFC 7516 section 11.5).
  private func unwrapped(
    with key: borrowing SecretBytes, _ encryption: ContentEncryptionAlgorithm
  ) -> SecretBytes {
    do {
      let contentKey = try AESKeyWrap.unwrap(encryptedKey, with: key)
      if contentKey.byteCount == encryption.keyByteCount { return contentKey }
    } catch {
      // Falls through to the random key.
    }
    return SecretBytes.random(byteCount: encryption.keyByteCount)
  }
}

/// A JWE that decrypted with the caller's key.
public struct DecryptedJWE: Sendable {
  /// The protected header.
  public let header: JOSEHeader
  /// The content.
  public let plaintext: [UInt8]
  /// How the content key arrived.
  public let keyAlgorithm: KeyManagementAlgorithm
  /// How the content was encrypted.
  public let contentAlgorithm: ContentEncryptionAlgorithm
  /// `kid` of the key that fits, as the key says it.
  public let keyID: String?

  fileprivate init(
    header: JOSEHeader, plaintext: [UInt8], keyAlgorithm: KeyManagementAlgorithm,
    contentAlgorithm: ContentEncryptionAlgorithm, keyID: String?
  ) {
    self.header = header
    self.plaintext = plaintext
    self.keyAlgorithm = keyAlgorithm
    self.contentAlgorithm = contentAlgorithm
    self.keyID = keyID
  }
}
