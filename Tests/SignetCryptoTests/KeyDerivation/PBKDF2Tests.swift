import SignetCrypto
import Testing

@Suite struct PBKDF2Tests {
  /// A vector of RFC 6070, with the derived key in hexadecimal.
  struct Vector: Sendable {
    var password = "password"
    var salt = "salt"
    let iterations: Int
    let key: String
  }

  @Test(
    "RFC 6070",
    arguments: [
      Vector(iterations: 1, key: "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
      Vector(iterations: 2, key: "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
      Vector(iterations: 4096, key: "4b007901b765489abead49d926f721d065a429c1"),
      Vector(
        password: "passwordPASSWORDpassword", salt: "saltSALTsaltSALTsaltSALTsaltSALTsalt", iterations: 4096,
        key: "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"),
      Vector(
        password: "pass\0word", salt: "sa\0lt", iterations: 4096, key: "56fa6aa75548099dcc37d7f03425e0c3"),
    ])
  func matchesTheStandard(_ vector: Vector) throws {
    let derived = try PBKDF2.derive(
      password: SecretBytes(copying: ascii(vector.password)), salt: ascii(vector.salt),
      iterations: vector.iterations, byteCount: vector.key.count / 2, .sha1)
    #expect(Hex.encode(derived.insecureCopy()) == vector.key)
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
