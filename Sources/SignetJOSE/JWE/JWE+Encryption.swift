import SignetCrypto
public import SignetJSON

extension JWE {
  /// The information about the parties of a key agreement that is bound to the key (RFC 7518 section 4.6.1).
  public struct PartyInfo: Sendable, Hashable {
    /// The member `apu`: information about the sender.
    public let partyU: [UInt8]
    /// The member `apv`: information about the recipient.
    public let partyV: [UInt8]

    /// Creates the information, which is sent unencrypted.
    ///
    /// - Parameters:
    ///   - partyU: Information about the sender.
    ///   - partyV: Information about the recipient.
    public init(partyU: [UInt8], partyV: [UInt8]) {
      self.partyU = partyU
      self.partyV = partyV
    }
  }

  /// Encrypts to a compact serialization.
  ///
  /// - Parameters:
  ///   - plaintext: The content; its length is visible to within a block.
  ///   - key: The recipient's key; its `kid` is written to the header.
  ///   - keyAlgorithm: The member `alg`.
  ///   - contentAlgorithm: The member `enc`.
  ///   - type: The member `typ`.
  ///   - contentType: The member `cty`; `JWT` for a signed token as content (RFC 7519 section 5.2).
  ///   - partyInfo: The members `apu` and `apv`, for algorithms with a key agreement.
  ///   - parameters: Further members of the header.
  /// - Returns: Five base64url parts with dots between them.
  /// - Throws: ``JOSEFailure/keyNotPermitted`` if the key does not permit the algorithms, ``JOSEFailure/cryptography(_:)``.
  public static func encrypt(
    _ plaintext: [UInt8], for key: EncryptionKey, _ keyAlgorithm: KeyManagementAlgorithm = .ecdhES,
    _ contentAlgorithm: ContentEncryptionAlgorithm = .a256GCM, type: String? = nil,
    contentType: String? = nil, partyInfo: PartyInfo? = nil, parameters: JSONObject = [:]
  ) throws(JOSEFailure) -> String {
    guard key.permission.permits(keyAlgorithm, contentAlgorithm) else { throw .keyNotPermitted }
    var header: JSONObject = [
      "alg": .string(keyAlgorithm.rawValue), "enc": .string(contentAlgorithm.rawValue),
    ]
    if let keyID = key.keyID { header["kid"] = .string(keyID) }
    if let type { header["typ"] = .string(type) }
    if let contentType { header["cty"] = .string(contentType) }
    do {
      switch key.material {
      case .p256(let publicKey):
        let ephemeral = P256.KeyAgreement.PrivateKey()
        header["epk"] = .object(JWK.members(x963: ephemeral.publicKey.x963Representation))
        if let partyInfo {
          header["apu"] = .string(Base64URL.encode(partyInfo.partyU))
          header["apv"] = .string(Base64URL.encode(partyInfo.partyV))
        }
        let derivedKey = ConcatKDF.derive(
          try ephemeral.sharedSecret(with: publicKey),
          algorithm: keyAlgorithm.wrappingKeyByteCount == nil
            ? contentAlgorithm.rawValue : keyAlgorithm.rawValue,
          partyUInfo: partyInfo?.partyU ?? [], partyVInfo: partyInfo?.partyV ?? [],
          byteCount: keyAlgorithm.wrappingKeyByteCount ?? contentAlgorithm.keyByteCount)
        return try sealed(plaintext, derivedKey, keyAlgorithm, contentAlgorithm, header, parameters)
      case .symmetric(let box):
        guard partyInfo == nil else { throw JOSEFailure.keyNotPermitted }
        return try box.withSecret { (secret) throws in
          try sealed(plaintext, secret, keyAlgorithm, contentAlgorithm, header, parameters)
        }
      }
    } catch let failure as JOSEFailure {
      throw failure
    } catch let failure as CryptoFailure {
      throw .cryptography(failure)
    } catch {
      throw .keyNotPermitted
    }
  }

  /// Encrypts with the key, or with a new content key that the key wraps.
  private static func sealed(
    _ plaintext: [UInt8], _ key: borrowing SecretBytes, _ keyAlgorithm: KeyManagementAlgorithm,
    _ contentAlgorithm: ContentEncryptionAlgorithm, _ header: JSONObject, _ parameters: JSONObject
  ) throws -> String {
    let protected = Base64URL.encode(try JOSEHeader.bytes(header, adding: parameters))
    let additionalData = Array(protected.utf8)
    var encryptedKey = ""
    let sealed: (iv: [UInt8], ciphertext: [UInt8], tag: [UInt8])
    if keyAlgorithm.wrappingKeyByteCount == nil {
      sealed = try contentAlgorithm.seal(plaintext, key: key, additionalData: additionalData)
    } else {
      let contentKey = SecretBytes.random(byteCount: contentAlgorithm.keyByteCount)
      encryptedKey = Base64URL.encode(try AESKeyWrap.wrap(contentKey, with: key))
      sealed = try contentAlgorithm.seal(plaintext, key: contentKey, additionalData: additionalData)
    }
    let parts = [sealed.iv, sealed.ciphertext, sealed.tag].map(Base64URL.encode).joined(separator: ".")
    return "\(protected).\(encryptedKey).\(parts)"
  }
}
