/// The password-based key derivation of RFC 8018 section 5.2, for foreign formats; Signet's own use ``Argon2id``.
public enum PBKDF2 {
  /// Derives `byteCount` bytes (1 to 65,536) from a password with HMAC.
  ///
  /// `iterations` is 1 to 10,000,000: the limit keeps a malicious file from occupying the processor for minutes.
  ///
  /// - Throws: ``CryptoFailure/parameterOutOfRange(_:_:allowed:)``.
  public static func derive(
    password: borrowing SecretBytes, salt: [UInt8], iterations: Int, byteCount: Int, _ hash: HashFunction
  ) throws(CryptoFailure) -> SecretBytes {
    try CryptoFailure.require(iterations, in: 1...10_000_000, .iterations)
    try CryptoFailure.require(byteCount, in: 1...65_536, .outputByteCount)
    return try password.withUInt8Span { (password) throws(CryptoFailure) in
      try PasswordFunctions.pbkdf2(
        password: password, salt: salt.span, iterations: iterations, byteCount: byteCount, hash)
    }
  }
}
