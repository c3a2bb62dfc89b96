import SignetCrypto

/// Content encryption with a content key of the algorithm's length (RFC 7518 section 5).
extension ContentEncryptionAlgorithm {
  /// Encrypts with a random initialization vector.
  func seal(
    _ plaintext: [UInt8], key: borrowing SecretBytes, additionalData: [UInt8]
  ) throws(CryptoFailure) -> (iv: [UInt8], ciphertext: [UInt8], tag: [UInt8]) {
    let iv = SecureRandom.bytes(ivByteCount)
    guard let macHash else {
      let (ciphertext, tag) = try AESGCM.seal(plaintext, key: key, nonce: iv, additionalData: additionalData)
      return (iv, ciphertext, tag)
    }
    let half = key.byteCount / 2
    let ciphertext = try AESCBC.encrypt(
      plaintext, key: key.slice(half..<key.byteCount), initializationVector: iv)
    let tag = self.tag(
      HMACKey(key.slice(0..<half), macHash), additionalData: additionalData, iv: iv, ciphertext: ciphertext)
    return (iv, ciphertext, tag)
  }

  /// Decrypts; the tag is verified in constant time before any decryption.
  func open(
    _ ciphertext: [UInt8], iv: [UInt8], tag: [UInt8], key: borrowing SecretBytes, additionalData: [UInt8]
  ) throws(CryptoFailure) -> [UInt8] {
    guard let macHash else {
      return try AESGCM.openBytes(
        ciphertext, tag: tag, key: key, nonce: iv, additionalData: additionalData)
    }
    let half = key.byteCount / 2
    let expected = self.tag(
      HMACKey(key.slice(0..<half), macHash), additionalData: additionalData, iv: iv, ciphertext: ciphertext)
    guard constantTimeEqual(expected, tag) else { throw .authenticationFailed }
    return try AESCBC.decrypt(ciphertext, key: key.slice(half..<key.byteCount), initializationVector: iv)
  }

  /// Returns the first half of the MAC over additional data, vector, ciphertext and the bit length of the additional data as
  /// 64 bits (RFC 7518 section 5.2.2.1).
  private func tag(_ key: HMACKey, additionalData: [UInt8], iv: [UInt8], ciphertext: [UInt8]) -> [UInt8] {
    var message = additionalData
    message.reserveCapacity(additionalData.count + iv.count + ciphertext.count + 8)
    message.append(contentsOf: iv)
    message.append(contentsOf: ciphertext)
    let bitCount = UInt64(additionalData.count) * 8
    for shift in stride(from: 56, through: 0, by: -8) {
      message.append(UInt8(truncatingIfNeeded: bitCount >> UInt64(shift)))
    }
    return Array(key.authenticationCode(for: message).prefix(tagByteCount))
  }
}
