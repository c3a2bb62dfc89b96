import SignetCrypto
import Testing

@Suite struct PBKDF2Tests {
  @Test(
    "RFC 6070",
    arguments: [
      ("password", "salt", 1, "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
      ("password", "salt", 2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
      ("password", "salt", 4096, "4b007901b765489abead49d926f721d065a429c1"),
      (
        "passwordPASSWORDpassword", "saltSALTsaltSALTsaltSALTsaltSALTsalt", 4096,
        "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"
      ),
      ("pass\0word", "sa\0lt", 4096, "56fa6aa75548099dcc37d7f03425e0c3"),
    ])
  func matchesTheStandard(_ password: String, _ salt: String, _ iterations: Int, _ key: String) throws {
    let derived = try PBKDF2.derive(
      password: SecretBytes(copying: ascii(password)), salt: ascii(salt), iterations: iterations,
      byteCount: key.count / 2, .sha1)
    #expect(Hex.encode(derived.insecureCopy()) == key)
  }

  @Test func refusesWhatIsOutOfBounds() {
    #expect(throws: CryptoFailure.parameterOutOfRange(.iterations, 0, allowed: 1...10_000_000)) {
      try derive(iterations: 0, byteCount: 32)
    }
    #expect(throws: CryptoFailure.parameterOutOfRange(.iterations, 10_000_001, allowed: 1...10_000_000)) {
      try derive(iterations: 10_000_001, byteCount: 32)
    }
    #expect(throws: CryptoFailure.parameterOutOfRange(.outputByteCount, 0, allowed: 1...65_536)) {
      try derive(iterations: 1, byteCount: 0)
    }
    #expect(throws: CryptoFailure.parameterOutOfRange(.outputByteCount, 65_537, allowed: 1...65_536)) {
      try derive(iterations: 1, byteCount: 65_537)
    }
  }

  @Test func takesAnEmptyPasswordAndSalt() throws {
    let derived = try PBKDF2.derive(
      password: SecretBytes(copying: []), salt: [], iterations: 1, byteCount: 20, .sha1)
    #expect(Hex.encode(derived.insecureCopy()) == "1e437a1c79d75be61e91141dae20affc4892cc99")
  }

  private func derive(iterations: Int, byteCount: Int) throws {
    _ = try PBKDF2.derive(
      password: SecretBytes(copying: [1]), salt: [1], iterations: iterations, byteCount: byteCount, .sha256)
  }
}
