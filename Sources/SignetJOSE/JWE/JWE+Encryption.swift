import SignetCrypto
public import SignetJSON

extension JWE {
  /// What the two parties of a key agreement may bind into the key (RFC 7518 section 4.6.1).
  public struct PartyInfo: Sendable, Hashable {
    /// `apu`: about the sender.
    public let partyU: [UInt8]
    /// `apv`: about the reader.
    public let partyV: [UInt8]

    /// Names what is bound; both are sent in the clear.
    ///
    /// - Parameters:
    ///   - partyU: About the sender.
    ///   - partyV: About the reader.
    public init(partyU: [UInt8], partyV: [UInt8]) {
      self.partyU = partyU
      self.partyV = partyV
    }
  }

  /// Encrypts into a compact serialization.
  ///
  /// - Parameters:
  ///   - plaintext: The content. Its length shows, to within a block.
  ///   - key: The reader's key; its `kid` goes into the header.
  ///   - keyAlgorithm: `alg`.
  ///   - contentAlgorithm: `enc`.
  ///   - type: `typ`.
  ///   - contentType: `cty`; `JWT` where the content is a signed token (RFC 7519 section 5.2).
  ///   - partyInfo: `apu` and `apv`, where the algorithm agrees a key.
  ///   - parameters: Further members of the header.
  /// - Returns: Five base64url parts with dots between them.
  /// - Throws: ``JOSEFailure/keyNotPermitted`` where key and algorithms do not fit, ``JOSEFailure/cryptography(_:)``.
  public static func encrypt(
    _ plaintext: [UInt8], for key: EncryptionKey, _ keyAlgorithm: KeyManagementAlgorithm = .ecdhES,
    _ contentAlgorithm: ContentEncryptionAlgorithm = .a256GCM, type: String? = nil,
    contentType: String? = nil, partyInfo: PartyInfo? = nil, parameters: JSONObject = [:]
  ) throws(JOSEFailure) -> String {
    guard key.permits(keyAlgorithm, contentAlgorithm) else { throw .keyNotPermitted }
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
        let agreed = ConcatKDF.derive(
          try ephemeral.sharedSecret(with: publicKey),
          algorithm: keyAlgorithm.wrappingKeyByteCount == nil
            ? contentAlgorithm.rawValue : keyAlgorithm.rawValue,
          partyUInfo: partyInfo?.partyU ?? [], partyVInfo: partyInfo?.partyV ?? [],
          byteCount: keyAlgorithm.wrappingKeyByteCount ?? contentAlgorithm.keyByteCount)
        return try sealed(plaintext, agreed, keyAlgorithm, contentAlgorithm, header, parameters)
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

  /// Encrypts under the content key, or under a fresh one that is wrapped.
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
