public import SignetCrypto
import SignetJSON

/// A compact JWE as it arrived (RFC 7516 section 7.1): well-formed, but not decrypted.
///
/// With a key agreement, anyone who knows the public key can create a JWE, so decryption does not authenticate the sender.
/// If that matters, the content must be signed.
public struct JWE: Sendable {
  /// The protected header, which is not authenticated yet.
  public let header: JOSEHeader
  /// The member `enc` as received.
  public let contentEncryptionName: String
  let encryptedKey: [UInt8]
  private let iv: [UInt8]
  private let ciphertext: [UInt8]
  private let tag: [UInt8]
  private let additionalData: [UInt8]

  /// Parses a compact serialization.
  ///
  /// - Parameters:
  ///   - compact: Five base64url parts with dots between them.
  ///   - maximumByteCount: The longest accepted text, in bytes.
  /// - Throws: ``JOSEFailure`` for a malformed object, and for `crit`, `b64` and `zip`.
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

  /// Decrypts with a key that the caller chose; the header's `kid` is ignored.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - keyAlgorithms: The accepted values of `alg`; the message cannot extend them.
  ///   - contentAlgorithms: The accepted values of `enc`.
  /// - Returns: The content and the algorithms that protected it.
  /// - Throws: ``JOSEFailure``; ``JOSEFailure/decryptionFailed`` for every failure that depends on the key.
  public func decrypted(
    with key: DecryptionKey, allowing keyAlgorithms: Set<KeyManagementAlgorithm>,
    _ contentAlgorithms: Set<ContentEncryptionAlgorithm>
  ) throws(JOSEFailure) -> DecryptedJWE {
    let (algorithm, encryption) = try allowed(keyAlgorithms, contentAlgorithms)
    guard key.permission.permits(algorithm, encryption) else { throw .keyNotPermitted }
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

  /// Decrypts with a secret agreed elsewhere, for example in hardware, with ``ephemeralPublicKey()``.
  ///
  /// - Parameters:
  ///   - sharedSecret: The X coordinate, 32 bytes.
  ///   - keyAlgorithms: The accepted values of `alg` among those with a key agreement.
  ///   - contentAlgorithms: The accepted values of `enc`.
  /// - Returns: The content and the algorithms that protected it.
  /// - Throws: ``JOSEFailure``; ``JOSEFailure/decryptionFailed`` for every failure that depends on the key.
  public func decrypted(
    withSharedSecret sharedSecret: borrowing SecretBytes,
    allowing keyAlgorithms: Set<KeyManagementAlgorithm>,
    _ contentAlgorithms: Set<ContentEncryptionAlgorithm>
  ) throws(JOSEFailure) -> DecryptedJWE {
    let (algorithm, encryption) = try allowed(keyAlgorithms, contentAlgorithms)
    guard KeyManagementAlgorithm.keyAgreement.contains(algorithm) else { throw .keyNotPermitted }
    return try opened(algorithm, encryption, try agreedKey(sharedSecret, algorithm, encryption), nil)
  }

  /// Returns the sender's ephemeral key from `epk`, after verifying that it is on P-256 (RFC 7518 section 4.6.1.1).
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

  /// Derives the content key, or the key that wraps it.
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

  /// Returns the content key, or a random key if unwrapping fails.
  ///
  /// The failure then appears only as a wrong tag, like all others (RFC 7516 section 11.5).
  private func unwrapped(
    with key: borrowing SecretBytes, _ encryption: ContentEncryptionAlgorithm
  ) -> SecretBytes {
    do {
      let contentKey = try AESKeyWrap.unwrap(encryptedKey, with: key)
      if contentKey.byteCount == encryption.keyByteCount { return contentKey }
    } catch {
      // Continue with the random key.
    }
    return SecretBytes.random(byteCount: encryption.keyByteCount)
  }
}

/// A JWE that was decrypted with the caller's key.
public struct DecryptedJWE: Sendable {
  /// The protected header.
  public let header: JOSEHeader
  /// The content.
  public let plaintext: [UInt8]
  /// The algorithm that transported the content key.
  public let keyAlgorithm: KeyManagementAlgorithm
  /// The algorithm that encrypted the content.
  public let contentAlgorithm: ContentEncryptionAlgorithm
  /// The `kid` of the key that decrypted it, from the key itself.
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
