import SignetCrypto
import Testing

@Suite struct AESKeyWrapTests {
  static let longest = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
  static let data = "00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f"

  @Test(
    "RFC 3394 section 4: bytes of the key-encryption key, bytes of the key, result",
    arguments: [
      (16, 16, "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"),
      (24, 16, "96778b25ae6ca435f92b5b97c050aed2468ab8a17ad84e5d"),
      (32, 16, "64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7"),
      (24, 24, "031d33264e15d33268f24ec260743edce1c6c7ddee725a936ba814915c6762d2"),
      (32, 24, "a8f9bc1612c68b3ff6e6f4fbe30e71e4769c8b80a32cb8958cd5d17d6b254da1"),
      (32, 32, "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"),
    ])
  func matchesTheStandard(_ outerCount: Int, _ keyCount: Int, _ wrapped: String) throws {
    let outer = SecretBytes(copying: Array(try bytes(Self.longest).prefix(outerCount)))
    let key = SecretBytes(copying: Array(try bytes(Self.data).prefix(keyCount)))
    #expect(try Hex.encode(AESKeyWrap.wrap(key, with: outer)) == wrapped)
    let unwrapped = try AESKeyWrap.unwrap(bytes(wrapped), with: outer)
    let isSame = unwrapped.isEqual(to: key)
    #expect(isSame)
  }

  @Test func everyBitCounts() throws {
    let outer = SecretBytes.random(byteCount: 32)
    let wrapped = try AESKeyWrap.wrap(SecretBytes.random(byteCount: 32), with: outer)
    for bit in 0..<(wrapped.count * 8) {
      var changed = wrapped
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: CryptoFailure.authenticationFailed) {
        _ = try AESKeyWrap.unwrap(changed, with: outer).byteCount
      }
    }
    #expect(throws: CryptoFailure.authenticationFailed) {
      _ = try AESKeyWrap.unwrap(wrapped, with: SecretBytes.random(byteCount: 32)).byteCount
    }
  }

  @Test func refusesWrongLengths() throws {
    let outer = SecretBytes.random(byteCount: 32)
    for count in [0, 8, 17, 31, 4104] {
      #expect(throws: CryptoFailure.inputLength(count)) {
        try AESKeyWrap.wrap(SecretBytes.random(byteCount: count), with: outer)
      }
    }
    for count in [0, 16, 25, 4112] {
      #expect(throws: CryptoFailure.inputLength(count)) {
        _ = try AESKeyWrap.unwrap([UInt8](repeating: 0, count: count), with: outer).byteCount
      }
    }
    #expect(throws: CryptoFailure.keyLength(20)) {
      try AESKeyWrap.wrap(SecretBytes.random(byteCount: 16), with: SecretBytes.random(byteCount: 20))
    }
    let longest = SecretBytes.random(byteCount: 4096)
    let wrapped = try AESKeyWrap.wrap(longest, with: outer)
    let isSame = try AESKeyWrap.unwrap(wrapped, with: outer).isEqual(to: longest)
    #expect(isSame)
  }
}
