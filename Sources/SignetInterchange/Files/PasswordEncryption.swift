import SignetCrypto

/// AES-256-GCM with a key from a password, as the files of authenticators use it.
enum PasswordEncryption {
  /// Derives a key of 32 bytes with PBKDF2.
  static func key(
    _ password: SharedSecretBox, salt: [UInt8], iterations: Int, _ hash: HashFunction
  ) throws(InterchangeFailure) -> SecretBytes {
    do throws(CryptoFailure) {
      return try password.withSecret { (password) throws(CryptoFailure) in
        try PBKDF2.derive(password: password, salt: salt, iterations: iterations, byteCount: 32, hash)
      }
    } catch { throw .crypto(error) }
  }

  /// Decrypts a ciphertext that ends with its tag.
  static func open(
    _ sealed: [UInt8], nonce: [UInt8], key: borrowing SecretBytes, _ format: InterchangeFormat
  ) throws(InterchangeFailure) -> [UInt8] {
    guard sealed.count >= AESGCM.tagByteCount, nonce.count == AESGCM.nonceByteCount else {
      throw .unsupportedEncryption(format, reason: "it is truncated")
    }
    do throws(CryptoFailure) {
      return try AESGCM.openBytes(
        Array(sealed.dropLast(AESGCM.tagByteCount)), tag: Array(sealed.suffix(AESGCM.tagByteCount)), key: key,
        nonce: nonce)
    } catch { throw .wrongPassword(format) }
  }

  /// Encrypts and returns ciphertext and tag separately.
  static func seal(
    _ plaintext: [UInt8], nonce: [UInt8], key: borrowing SecretBytes
  ) throws(InterchangeFailure) -> (ciphertext: [UInt8], tag: [UInt8]) {
    do throws(CryptoFailure) { return try AESGCM.seal(plaintext, key: key, nonce: nonce) } catch {
      throw .crypto(error)
    }
  }
}
