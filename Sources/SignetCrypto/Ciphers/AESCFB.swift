/// AES-128 in cipher feedback mode with whole blocks (NIST SP 800-38A section 6.3), as in TPM sessions.
///
/// It does not authenticate. A key and an initialization vector must never be used together twice.
package enum AESCFB {
  /// Encrypts under a key and an initialization vector of 16 bytes each.
  ///
  /// - Throws: ``CryptoFailure/keyLength(_:)``, ``CryptoFailure/nonceLength(_:)``.
  package static func encrypt(
    _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes,
    initializationVector: borrowing SecretBytes
  ) throws(CryptoFailure) -> [UInt8] {
    let count = plaintext.byteCount
    return try apply(key, initializationVector) { (key, vector) throws(CryptoFailure) in
      try plaintext.withUInt8Span { (plaintext) throws(CryptoFailure) in
        try BlockCipher.aes128CFB.applied(
          to: plaintext, key: key, vector: vector, encrypts: true, capacity: count)
      }
    }
  }

  /// Decrypts the output of ``encrypt(_:key:initializationVector:)``.
  ///
  /// - Throws: ``CryptoFailure/keyLength(_:)``, ``CryptoFailure/nonceLength(_:)``.
  package static func decrypt(
    _ ciphertext: [UInt8], key: borrowing SecretBytes, initializationVector: borrowing SecretBytes
  ) throws(CryptoFailure) -> SecretBytes {
    try apply(key, initializationVector) { (key, vector) throws(CryptoFailure) in
      try unsafe SecretBytes(
        byteCount: ciphertext.count,
        writing: { (buffer) throws(CryptoFailure) in
          _ = try unsafe BlockCipher.aes128CFB.apply(
            ciphertext.span, key: key, vector: vector, encrypts: false, into: buffer)
        })
    }
  }

  private static func apply<R: ~Copyable>(
    _ key: borrowing SecretBytes, _ vector: borrowing SecretBytes,
    _ body: (Span<UInt8>, Span<UInt8>) throws(CryptoFailure) -> R
  ) throws(CryptoFailure) -> R {
    guard key.byteCount == 16 else { throw .keyLength(key.byteCount) }
    guard vector.byteCount == 16 else { throw .nonceLength(vector.byteCount) }
    return try key.withUInt8Span { (key) throws(CryptoFailure) in
      try vector.withUInt8Span { (vector) throws(CryptoFailure) in try body(key, vector) }
    }
  }
}
