import SignetCrypto
import Testing

/// Forms and rejections of our own; the known answers are Wycheproof's.
@Suite struct AESGCMTests {
  private let message = ascii("attack at dawn")

  @Test("NIST SP 800-38D test case 2: 128-bit key of zeros")
  func knownAnswer() throws {
    let sealed = try AESGCM.seal(
      [UInt8](repeating: 0, count: 16), key: secret("00000000000000000000000000000000"),
      nonce: [UInt8](repeating: 0, count: 12))
    #expect(Hex.encode(sealed.ciphertext) == "0388dace60b6a392f328c2b971b2fe78")
    #expect(Hex.encode(sealed.tag) == "ab6e47d42cec13bdf53a67b21257bddf")
  }

  @Test("arrays, spans and secrets give the same ciphertext", arguments: [16, 32])
  func everyForm(_ keyByteCount: Int) throws {
    let key = SecretBytes.random(byteCount: keyByteCount)
    let nonce = SecureRandom.bytes(12)
    let fromArray = try AESGCM.seal(message, key: key, nonce: nonce, additionalData: [7])
    let plaintext = SecretBytes(copying: message)
    let fromSecret = try AESGCM.seal(plaintext, key: key, nonce: nonce, additionalData: [7])
    let fromSpan = try plaintext.withBytes { (span) throws(CryptoFailure) in
      try AESGCM.seal(span, key: key, nonce: nonce, additionalData: [7])
    }
    #expect(fromArray == fromSecret)
    #expect(fromArray == fromSpan)
    let opened = try AESGCM.open(
      fromArray.ciphertext, tag: fromArray.tag, key: key, nonce: nonce, additionalData: [7])
    #expect(opened.insecureCopy() == message)
  }

  @Test func combinesNonceCiphertextAndTag() throws {
    let key = SecretBytes.random(byteCount: 32)
    let combined = try AESGCM.sealCombined(message, key: key, random: FixedRandomSource(byte: 9))
    #expect(combined.count == 12 + message.count + 16)
    #expect(combined.prefix(12).elementsEqual([UInt8](repeating: 9, count: 12)))
    let apart = try AESGCM.seal(message, key: key, nonce: [UInt8](repeating: 9, count: 12))
    #expect(combined.dropFirst(12).elementsEqual(apart.ciphertext + apart.tag))
    let plaintext = SecretBytes(copying: message)
    #expect(try AESGCM.sealCombined(plaintext, key: key, random: FixedRandomSource(byte: 9)) == combined)
    #expect(try AESGCM.openCombined(combined, key: key).insecureCopy() == message)
  }

  @Test("each message has a fresh nonce")
  func freshNonces() throws {
    let key = SecretBytes.random(byteCount: 16)
    let nonces = try Set((0..<100).map { _ in Array(try AESGCM.sealCombined([], key: key).prefix(12)) })
    #expect(nonces.count == 100)
  }

  @Test("every flipped bit is detected, and both ways of opening fail alike")
  func everyBitCounts() throws {
    let key = SecretBytes.random(byteCount: 32)
    let combined = try AESGCM.sealCombined(ascii("short"), key: key, additionalData: [1, 2])
    for bit in 0..<(combined.count * 8) {
      var changed = combined
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: CryptoFailure.authenticationFailed) {
        try AESGCM.openCombinedBytes(changed, key: key, additionalData: [1, 2])
      }
      #expect(throws: CryptoFailure.authenticationFailed) {
        _ = try AESGCM.openCombined(changed, key: key, additionalData: [1, 2]).byteCount
      }
    }
    for additionalData in [[], [1], [2, 1], [1, 2, 0]] as [[UInt8]] {
      #expect(throws: CryptoFailure.authenticationFailed) {
        try AESGCM.openCombinedBytes(combined, key: key, additionalData: additionalData)
      }
    }
    #expect(throws: CryptoFailure.authenticationFailed) {
      try AESGCM.openCombinedBytes(combined, key: SecretBytes.random(byteCount: 32), additionalData: [1, 2])
    }
  }

  @Test func emptyPlaintext() throws {
    let key = SecretBytes.random(byteCount: 16)
    let combined = try AESGCM.sealCombined([UInt8](), key: key)
    #expect(combined.count == 28)
    #expect(try AESGCM.openCombinedBytes(combined, key: key).isEmpty)
    #expect(try AESGCM.openCombined(combined, key: key).byteCount == 0)
  }

  @Test func refusesWrongLengths() {
    let key = SecretBytes.random(byteCount: 32)
    let nonce = [UInt8](repeating: 0, count: 12)
    for count in [0, 15, 17, 24, 31, 33, 64] {
      #expect(throws: CryptoFailure.keyLength(count)) {
        try AESGCM.seal(message, key: SecretBytes.random(byteCount: count), nonce: nonce)
      }
    }
    for count in [0, 8, 11, 13, 16] {
      #expect(throws: CryptoFailure.nonceLength(count)) {
        try AESGCM.seal(message, key: key, nonce: [UInt8](repeating: 0, count: count))
      }
    }
    for count in [0, 4, 12, 15, 17] {
      #expect(throws: CryptoFailure.tagLength(count)) {
        try AESGCM.openBytes(message, tag: [UInt8](repeating: 0, count: count), key: key, nonce: nonce)
      }
    }
    for count in [0, 12, 27] {
      #expect(throws: CryptoFailure.inputLength(count)) {
        try AESGCM.openCombinedBytes([UInt8](repeating: 0, count: count), key: key)
      }
    }
  }
}
