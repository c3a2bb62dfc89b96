import SignetCrypto
import Testing

@Suite("AES in cipher feedback mode")
struct AESCFBTests {
  private var key: SecretBytes { Self.secret(Self.hex("2b7e151628aed2a6abf7158809cf4f3c")) }
  private var vector: SecretBytes { Self.secret([UInt8](0...15)) }
  private let plaintext = Self.hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
  private let ciphertext = Self.hex("3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b")

  private static func hex(_ text: String) -> [UInt8] {
    stride(from: 0, to: text.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
  }

  private static func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes) }

  @Test("NIST SP 800-38A section F.3.13, whole and cut anywhere", arguments: 0...32)
  func standard(_ count: Int) throws {
    let encrypted = try AESCFB.encrypt(
      Self.secret(Array(plaintext.prefix(count))), key: key, initializationVector: vector)
    #expect(encrypted == Array(ciphertext.prefix(count)))
    let decrypted = try AESCFB.decrypt(encrypted, key: key, initializationVector: vector)
    #expect(decrypted.insecureCopy() == Array(plaintext.prefix(count)))
  }

  @Test("keys and vectors of another length are refused")
  func lengths() {
    #expect(throws: CryptoFailure.keyLength(15)) {
      try AESCFB.encrypt(Self.secret([1]), key: Self.secret([UInt8](1...15)), initializationVector: vector)
    }
    #expect(throws: CryptoFailure.nonceLength(12)) {
      try AESCFB.encrypt(Self.secret([1]), key: key, initializationVector: Self.secret([UInt8](1...12)))
    }
  }
}
