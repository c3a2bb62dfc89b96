/// AES key wrap (RFC 3394) with the standard's initial value, as in A128KW and A256KW.
public enum AESKeyWrap {
  /// The longest key to wrap, in bytes: far more than any real key needs.
  public static let maximumByteCount = 4096

  /// Wraps a key of 16 to 4096 bytes, a multiple of 8, under a key-encryption key of 16, 24 or 32 bytes.
  ///
  /// - Returns: The wrapped key, 8 bytes longer than `key`.
  /// - Throws: ``CryptoFailure/keyLength(_:)``, ``CryptoFailure/inputLength(_:)``.
  public static func wrap(
    _ key: borrowing SecretBytes, with keyEncryptionKey: borrowing SecretBytes
  ) throws(CryptoFailure) -> [UInt8] {
    let cipher = try BlockCipher.keyWrap(keyByteCount: keyEncryptionKey.byteCount)
    let count = key.byteCount
    guard (16...maximumByteCount).contains(count), count.isMultiple(of: 8) else {
      throw .inputLength(count)
    }
    let standardVector: [UInt8] = []
    return try key.withUInt8Span { (key) throws(CryptoFailure) in
      try keyEncryptionKey.withUInt8Span { (keyEncryptionKey) throws(CryptoFailure) in
        try cipher.applied(
          to: key, key: keyEncryptionKey, vector: standardVector.span, encrypts: true, wraps: true,
          capacity: count + 16)
      }
    }
  }

  /// Unwraps a wrapped key of 24 to 4104 bytes, a multiple of 8.
  ///
  /// - Throws: ``CryptoFailure/authenticationFailed`` if the integrity check fails, without further details;
  ///   ``CryptoFailure/keyLength(_:)``, ``CryptoFailure/inputLength(_:)``.
  public static func unwrap(
    _ wrapped: [UInt8], with keyEncryptionKey: borrowing SecretBytes
  ) throws(CryptoFailure) -> SecretBytes {
    let cipher = try BlockCipher.keyWrap(keyByteCount: keyEncryptionKey.byteCount)
    guard (24...(maximumByteCount + 8)).contains(wrapped.count), wrapped.count.isMultiple(of: 8) else {
      throw .inputLength(wrapped.count)
    }
    return try keyEncryptionKey.withUInt8Span { (keyEncryptionKey) throws(CryptoFailure) in
      try cipher.unwrappedSecret(wrapped.span, key: keyEncryptionKey)
    }
  }
}
