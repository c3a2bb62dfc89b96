import SignetCrypto
import Testing

@Suite struct AESCBCTests {
  @Test("RFC 7518 appendix B.1: the ciphertext of A128CBC-HS256")
  func matchesTheStandard() throws {
    let key = try secret("101112131415161718191a1b1c1d1e1f")
    let vector = try bytes("1af38c2dc2b96ffdd86694092341bc04")
    let plaintext = ascii(
      "A cipher system must not be required to be secret, and it must be able to fall into the hands of the enemy without inconvenience"
    )
    let ciphertext = try bytes(
      """
      c80edfa32ddf39d5ef00c0b468834279a2e46a1b8049f792f76bfe54b903a9c9a94ac9b47ad2655c5f10f9aef71427e2
      fc6f9b3f399a221489f16362c703233609d45ac69864e3321cf82935ac4096c86e133314c54019e8ca7980dfa4b9cf1b
      384c486f3a54c51078158ee5d79de59fbd34d848b3d69550a67646344427ade54b8851ffb598f7f80074b9473c82e2db
      """)
    #expect(try AESCBC.encrypt(plaintext, key: key, initializationVector: vector) == ciphertext)
    #expect(try AESCBC.decrypt(ciphertext, key: key, initializationVector: vector) == plaintext)
  }

  @Test("NIST SP 800-38A F.2.5: the blocks before the padding, 256-bit key")
  func matchesTheStandardWith256Bits() throws {
    let ciphertext = try AESCBC.encrypt(
      bytes("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"),
      key: secret("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"),
      initializationVector: Array(0...15))
    #expect(
      Hex.encode(Array(ciphertext.prefix(32)))
        == "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d")
    #expect(ciphertext.count == 48)
  }

  @Test func everyLengthOfPadding() throws {
    let key = SecretBytes.random(byteCount: 16)
    let vector = SecureRandom.bytes(16)
    for count in 0...33 {
      let plaintext = [UInt8](repeating: 5, count: count)
      let ciphertext = try AESCBC.encrypt(plaintext, key: key, initializationVector: vector)
      #expect(ciphertext.count == (count / 16 + 1) * 16)
      #expect(try AESCBC.decrypt(ciphertext, key: key, initializationVector: vector) == plaintext)
    }
  }

  @Test func refusesWrongLengthsAndPadding() throws {
    let key = SecretBytes.random(byteCount: 16)
    let vector = [UInt8](repeating: 0, count: 16)
    #expect(throws: CryptoFailure.keyLength(24)) {
      try AESCBC.encrypt([], key: SecretBytes.random(byteCount: 24), initializationVector: vector)
    }
    #expect(throws: CryptoFailure.nonceLength(12)) {
      try AESCBC.encrypt([], key: key, initializationVector: [UInt8](repeating: 0, count: 12))
    }
    for count in [0, 15, 17] {
      #expect(throws: CryptoFailure.inputLength(count)) {
        try AESCBC.decrypt([UInt8](repeating: 0, count: count), key: key, initializationVector: vector)
      }
    }
    // The last byte of the vector turns the padding of an empty text from 16 to 0, which is never valid.
    let ciphertext = try AESCBC.encrypt([], key: key, initializationVector: vector)
    var changed = vector
    changed[15] = 16
    #expect(throws: CryptoFailure.decryptionFailed) {
      try AESCBC.decrypt(ciphertext, key: key, initializationVector: changed)
    }
  }
}
