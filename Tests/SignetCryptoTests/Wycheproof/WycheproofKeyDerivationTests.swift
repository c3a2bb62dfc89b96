import SignetCrypto
import Testing

@Suite("Wycheproof key derivation", .enabled(if: WycheproofVectors.arePresent))
struct WycheproofKeyDerivationTests {
  struct HKDFGroup: Decodable {
    struct Case: Decodable {
      let tcId: Int
      let ikm: String
      let salt: String
      let info: String
      let size: Int
      let okm: String
      let result: WycheproofResult
    }

    let tests: [Case]
  }

  @Test("hkdf_sha256_test.json: every case")
  func everyHKDFCase() throws {
    let file = try WycheproofFile<HKDFGroup>("hkdf_sha256_test.json")
    var counts = (derived: 0, tooLong: 0)
    for test in file.testGroups.flatMap(\.tests) {
      switch test.result {
      case .valid:
        let key = HKDF.derive(
          inputKey: try secret(test.ikm), salt: try bytes(test.salt), info: try bytes(test.info),
          byteCount: test.size, .sha256)
        #expect(try key.insecureCopy() == bytes(test.okm), "case \(test.tcId)")
        counts.derived += 1
      case .invalid, .acceptable:
        // All ask for more than 255 digests, which violates a precondition; HKDFTests has an exit test.
        #expect(test.size > HKDF.maximumByteCount(.sha256), "case \(test.tcId)")
        counts.tooLong += 1
      }
    }
    #expect(counts.derived + counts.tooLong == file.numberOfTests)
    #expect(counts == (derived: 83, tooLong: 3))
  }

  struct PBKDF2Group: Decodable {
    struct Case: Decodable {
      let tcId: Int
      let password: String
      let salt: String
      let iterationCount: Int
      let dkLen: Int
      let dk: String
      let result: WycheproofResult
    }

    let tests: [Case]
  }

  @Test("pbkdf2_hmacsha256_test.json: every case")
  func everyPBKDF2Case() throws {
    let file = try WycheproofFile<PBKDF2Group>("pbkdf2_hmacsha256_test.json")
    var count = 0
    for test in file.testGroups.flatMap(\.tests) {
      #expect(test.result == .valid)
      let key = try PBKDF2.derive(
        password: secret(test.password), salt: bytes(test.salt), iterations: test.iterationCount,
        byteCount: test.dkLen, .sha256)
      #expect(try key.insecureCopy() == bytes(test.dk), "case \(test.tcId)")
      count += 1
    }
    #expect(count == file.numberOfTests)
    #expect(count == 60)
  }
}
