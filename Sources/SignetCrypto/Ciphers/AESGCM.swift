/// Authenticated encryption with AES-GCM (NIST SP 800-38D): 96-bit nonces and 128-bit tags only.
///
/// A nonce must never be used twice under one key. The combined forms use a random nonce, which is safe for up to 2^32
/// messages under a key (section 8.3).
public enum AESGCM {
  /// The length of a nonce, in bytes.
  public static let nonceByteCount = 12
  /// The length of a tag, in bytes.
  public static let tagByteCount = 16

  /// Encrypts an array under a key of 16 or 32 bytes and a nonce of 12 bytes.
  ///
  /// - Throws: ``CryptoFailure/keyLength(_:)``, ``CryptoFailure/nonceLength(_:)``, ``CryptoFailure/inputLength(_:)``.
  public static func seal(
    _ plaintext: [UInt8], key: borrowing SecretBytes, nonce: [UInt8], additionalData: [UInt8] = []
  ) throws(CryptoFailure) -> (ciphertext: [UInt8], tag: [UInt8]) {
    try split(sealed(plaintext.span, key, nonce, additionalData, after: []))
  }

  /// Encrypts a span under a key of 16 or 32 bytes and a nonce of 12 bytes.
  public static func seal(
    _ plaintext: RawSpan, key: borrowing SecretBytes, nonce: [UInt8], additionalData: [UInt8] = []
  ) throws(CryptoFailure) -> (ciphertext: [UInt8], tag: [UInt8]) {
    try withUInt8Span(of: plaintext) { (plaintext) throws(CryptoFailure) in
      try split(sealed(plaintext, key, nonce, additionalData, after: []))
    }
  }

  /// Encrypts a secret under a key of 16 or 32 bytes and a nonce of 12 bytes.
  public static func seal(
    _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, nonce: [UInt8],
    additionalData: [UInt8] = []
  ) throws(CryptoFailure) -> (ciphertext: [UInt8], tag: [UInt8]) {
    try plaintext.withUInt8Span { (plaintext) throws(CryptoFailure) in
      try split(sealed(plaintext, key, nonce, additionalData, after: []))
    }
  }

  /// Decrypts to a secret.
  ///
  /// - Throws: ``CryptoFailure/authenticationFailed`` if any bit differs, after wiping the plaintext;
  ///   ``CryptoFailure/tagLength(_:)`` for a shortened tag, and the errors of encryption.
  public static func open(
    _ ciphertext: [UInt8], tag: [UInt8], key: borrowing SecretBytes, nonce: [UInt8],
    additionalData: [UInt8] = []
  ) throws(CryptoFailure) -> SecretBytes {
    let cipher = try checked(key, nonce, ciphertext.count, additionalData, tag)
    return try key.withUInt8Span { (key) throws(CryptoFailure) in
      try cipher.openedSecret(
        ciphertext.span, tag: tag.span, key: key, nonce: nonce.span, additionalData: additionalData.span)
    }
  }

  /// Decrypts public plaintext to an array, with the errors of ``open(_:tag:key:nonce:additionalData:)``.
  public static func openBytes(
    _ ciphertext: [UInt8], tag: [UInt8], key: borrowing SecretBytes, nonce: [UInt8],
    additionalData: [UInt8] = []
  ) throws(CryptoFailure) -> [UInt8] {
    let cipher = try checked(key, nonce, ciphertext.count, additionalData, tag)
    return try key.withUInt8Span { (key) throws(CryptoFailure) in
      try cipher.openedBytes(
        ciphertext.span, tag: tag.span, key: key, nonce: nonce.span, additionalData: additionalData.span)
    }
  }

  /// Encrypts a secret under a random nonce to one array: nonce (12 bytes), ciphertext, tag (16 bytes).
  public static func sealCombined(
    _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, additionalData: [UInt8] = [],
    random: some RandomSource = SystemRandomSource()
  ) throws(CryptoFailure) -> [UInt8] {
    let nonce = random.bytes(nonceByteCount)
    return try plaintext.withUInt8Span { (plaintext) throws(CryptoFailure) in
      try sealed(plaintext, key, nonce, additionalData, after: nonce)
    }
  }

  /// Encrypts an array under a random nonce to one array: nonce (12 bytes), ciphertext, tag (16 bytes).
  public static func sealCombined(
    _ plaintext: [UInt8], key: borrowing SecretBytes, additionalData: [UInt8] = [],
    random: some RandomSource = SystemRandomSource()
  ) throws(CryptoFailure) -> [UInt8] {
    let nonce = random.bytes(nonceByteCount)
    return try sealed(plaintext.span, key, nonce, additionalData, after: nonce)
  }

  /// Decrypts the output of ``sealCombined(_:key:additionalData:random:)`` to a secret.
  ///
  /// - Throws: ``CryptoFailure/authenticationFailed``; ``CryptoFailure/inputLength(_:)`` below 28 bytes.
  public static func openCombined(
    _ combined: [UInt8], key: borrowing SecretBytes, additionalData: [UInt8] = []
  ) throws(CryptoFailure) -> SecretBytes {
    let parts = try Parts(combined)
    return try open(
      parts.ciphertext, tag: parts.tag, key: key, nonce: parts.nonce, additionalData: additionalData)
  }

  /// Decrypts the output of ``sealCombined(_:key:additionalData:random:)`` to an array, with the errors of
  /// ``openCombined(_:key:additionalData:)``.
  public static func openCombinedBytes(
    _ combined: [UInt8], key: borrowing SecretBytes, additionalData: [UInt8] = []
  ) throws(CryptoFailure) -> [UInt8] {
    let parts = try Parts(combined)
    return try openBytes(
      parts.ciphertext, tag: parts.tag, key: key, nonce: parts.nonce, additionalData: additionalData)
  }

  private struct Parts {
    let nonce: [UInt8]
    let ciphertext: [UInt8]
    let tag: [UInt8]

    init(_ combined: [UInt8]) throws(CryptoFailure) {
      guard combined.count >= nonceByteCount + tagByteCount else { throw .inputLength(combined.count) }
      nonce = Array(combined.prefix(nonceByteCount))
      ciphertext = Array(combined.dropFirst(nonceByteCount).dropLast(tagByteCount))
      tag = Array(combined.suffix(tagByteCount))
    }
  }

  private static func sealed(
    _ plaintext: Span<UInt8>, _ key: borrowing SecretBytes, _ nonce: [UInt8], _ additionalData: [UInt8],
    after prefix: [UInt8]
  ) throws(CryptoFailure) -> [UInt8] {
    let cipher = try checked(key, nonce, plaintext.count, additionalData, nil)
    return try key.withUInt8Span { (key) throws(CryptoFailure) in
      try cipher.sealed(
        plaintext, key: key, nonce: nonce.span, additionalData: additionalData.span, after: prefix)
    }
  }

  private static func split(_ sealed: [UInt8]) -> (ciphertext: [UInt8], tag: [UInt8]) {
    (Array(sealed.dropLast(tagByteCount)), Array(sealed.suffix(tagByteCount)))
  }

  private static func checked(
    _ key: borrowing SecretBytes, _ nonce: [UInt8], _ byteCount: Int, _ additionalData: [UInt8],
    _ tag: [UInt8]?
  ) throws(CryptoFailure) -> BlockCipher {
    let cipher = try BlockCipher.gcm(keyByteCount: key.byteCount)
    guard nonce.count == nonceByteCount else { throw .nonceLength(nonce.count) }
    if let tag, tag.count != tagByteCount { throw .tagLength(tag.count) }
    for count in [byteCount, additionalData.count] where count > BlockCipher.maximumByteCount {
      throw .inputLength(count)
    }
    return cipher
  }
}
