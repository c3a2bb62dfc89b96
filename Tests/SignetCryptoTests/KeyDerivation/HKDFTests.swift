import SignetCrypto
import Testing

@Suite(.timeLimit(.minutes(10))) struct HKDFTests {
  @Test("RFC 5869 appendix A.1: SHA-256")
  func basicCase() throws {
    let inputKey = SecretBytes(copying: [UInt8](repeating: 0x0B, count: 22))
    let pseudorandomKey = HKDF.extract(salt: Array(0...12), inputKey: inputKey, .sha256)
    #expect(
      Hex.encode(pseudorandomKey.insecureCopy())
        == "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5")
    let secretSalt = HKDF.extract(
      salt: SecretBytes(copying: Array(0...12)), inputKey: inputKey, .sha256)
    let areEqual = secretSalt.isEqual(to: pseudorandomKey)
    #expect(areEqual)
    let output = HKDF.expand(pseudorandomKey, info: Array(0xF0...0xF9), byteCount: 42, .sha256)
    #expect(
      Hex.encode(output.insecureCopy())
        == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
  }

  @Test("RFC 5869 appendix A.3: no salt, no info")
  func emptyCase() {
    let output = HKDF.derive(
      inputKey: SecretBytes(copying: [UInt8](repeating: 0x0B, count: 22)), salt: [], info: [],
      byteCount: 42, .sha256)
    #expect(
      Hex.encode(output.insecureCopy())
        == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
  }

  @Test("RFC 5869 appendix A.4: SHA-1")
  func sha1Case() {
    let output = HKDF.derive(
      inputKey: SecretBytes(copying: [UInt8](repeating: 0x0B, count: 11)), salt: Array(0...12),
      info: Array(0xF0...0xF9), byteCount: 42, .sha1)
    #expect(
      Hex.encode(output.insecureCopy())
        == "085a01ea1b10f36933068b56efa5ad81a4f14b822f5b091568a9cdd4f155fda2c22e422478d305f3f896")
  }

  @Test("expansion works from 0 to the maximum number of bytes")
  func bounds() {
    let key = SecretBytes.random(byteCount: 32)
    #expect(HKDF.expand(key, info: [1], byteCount: 0, .sha256).insecureCopy().isEmpty)
    #expect(HKDF.maximumByteCount(.sha256) == 8160)
    let most = HKDF.expand(key, info: [1], byteCount: 8160, .sha256).insecureCopy()
    #expect(most.count == 8160)
    #expect(HKDF.expand(key, info: [1], byteCount: 33, .sha256).insecureCopy() == Array(most.prefix(33)))
    #expect(Array(most.suffix(32)) != [UInt8](repeating: 0, count: 32))
    let longInfo = [UInt8](repeating: 1, count: 100_000)  // more than OpenSSL's own HKDF accepts
    #expect(HKDF.expand(key, info: longInfo, byteCount: 16, .sha256).byteCount == 16)
  }

  @Test func moreThan255DigestsIsAProgrammingError() async {
    await #expect(processExitsWith: .failure) {
      _ = HKDF.expand(SecretBytes(copying: [1]), info: [], byteCount: 8161, .sha256)
    }
    await #expect(processExitsWith: .failure) {
      _ = HKDF.expand(SecretBytes(copying: [1]), info: [], byteCount: -1, .sha256)
    }
  }
}
