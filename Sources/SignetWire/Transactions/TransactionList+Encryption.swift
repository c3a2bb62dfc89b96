public import SignetCrypto
import SignetJOSE

extension TransactionList {
  /// Encrypts the list to a device: ECDH-ES, A256GCM.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` when the key can't be used.
  public func encrypted(to key: P256.KeyAgreement.PublicKey) throws(WireFailure) -> String {
    do {
      return try JWE.encrypt(bytes, for: EncryptionKey(key), .ecdhES, .a256GCM)
    } catch { throw .notAuthentic }
  }

  /// Decrypts a list.
  ///
  /// - Throws: ``WireFailure``.
  public init(decrypting jwe: String, with key: P256.KeyAgreement.PrivateKey) throws(WireFailure) {
    let plaintext: [UInt8]
    do {
      // base64url makes four characters of three bytes; header, key and tag are short.
      let limit = Wire.maximumListByteCount / 3 * 4 + 4096
      plaintext = try JWE(compact: jwe, maximumByteCount: limit).decrypted(
        with: DecryptionKey(key), allowing: [.ecdhES], [.a256GCM]
      ).plaintext
    } catch { throw .notAuthentic }
    try self.init(parsing: plaintext)
  }
}
