/// AES in cipher block chaining mode with PKCS #7 padding (NIST SP 800-38A, RFC 5652 section 6.3).
///
/// Use it only as the cipher inside A128CBC-HS256 and similar constructions (RFC 7518 section 5.2): it does not
/// authenticate. Verify the MAC before decryption. Otherwise a failed decryption becomes a padding oracle.
public enum AESCBC {
  /// Encrypts under a key of 16 or 32 bytes and an unpredictable initialization vector of 16 bytes.
  ///
  /// - Throws: ``CryptoFailure/keyLength(_:)``, ``CryptoFailure/nonceLength(_:)``, ``CryptoFailure/inputLength(_:)``.
  public static func encrypt(
    _ plaintext: [UInt8], key: borrowing SecretBytes, initializationVector: [UInt8]
  ) throws(CryptoFailure) -> [UInt8] {
    let cipher = try checked(key, initializationVector, plaintext.count)
    return try key.withUInt8Span { (key) throws(CryptoFailure) in
      try cipher.applied(
        to: plaintext.span, key: key, vector: initializationVector.span, encrypts: true,
        capacity: plaintext.count + 16)
    }
  }

  /// Decrypts whole blocks and removes the padding.
  ///
  /// - Throws: ``CryptoFailure/decryptionFailed`` if the padding is wrong; ``CryptoFailure/inputLength(_:)`` unless the
  ///   ciphertext is one or more blocks of 16 bytes; the errors of encryption.
  public static func decrypt(
    _ ciphertext: [UInt8], key: borrowing SecretBytes, initializationVector: [UInt8]
  ) throws(CryptoFailure) -> [UInt8] {
    let cipher = try checked(key, initializationVector, ciphertext.count)
    guard !ciphertext.isEmpty, ciphertext.count.isMultiple(of: 16) else {
      throw .inputLength(ciphertext.count)
    }
    return try key.withUInt8Span { (key) throws(CryptoFailure) in
      do throws(CryptoFailure) {
        return try cipher.applied(
          to: ciphertext.span, key: key, vector: initializationVector.span, encrypts: false,
          capacity: ciphertext.count + 16)
      } catch {
        throw .decryptionFailed
      }
    }
  }

  private static func checked(
    _ key: borrowing SecretBytes, _ vector: [UInt8], _ byteCount: Int
  ) throws(CryptoFailure) -> BlockCipher {
    let cipher = try BlockCipher.cbc(keyByteCount: key.byteCount)
    guard vector.count == 16 else { throw .nonceLength(vector.count) }
    guard byteCount <= BlockCipher.maximumByteCount else { throw .inputLength(byteCount) }
    return cipher
  }
}
