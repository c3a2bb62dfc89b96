import SignetCrypto
import Testing

@Suite("Wycheproof HMAC", .enabled(if: WycheproofVectors.arePresent))
struct WycheproofMACTests {
  struct Group: Decodable {
    let tagSize: Int
    let tests: [Case]
  }

  struct Case: Decodable {
    let tcId: Int
    let key: String
    let msg: String
    let tag: String
    let result: WycheproofResult
  }

  struct File: Sendable {
    let name: String
    let hash: HashFunction
    let whole: Int
    let shortened: Int
  }

  @Test(
    "every case",
    arguments: [
      File(name: "hmac_sha1_test.json", hash: .sha1, whole: 87, shortened: 83),
      File(name: "hmac_sha256_test.json", hash: .sha256, whole: 87, shortened: 87),
    ])
  func everyCase(_ expected: File) throws {
    let file = try WycheproofFile<Group>(expected.name)
    var counts = (whole: 0, shortened: 0)
    for group in file.testGroups {
      for test in group.tests {
        let key = HMACKey(try secret(test.key), expected.hash)
        let (tag, message) = (try bytes(test.tag), try bytes(test.msg))
        let isRight = constantTimeEqual(
          Array(key.authenticationCode(for: message).prefix(group.tagSize / 8)), tag)
        #expect(isRight == (test.result == .valid), "case \(test.tcId)")
        if group.tagSize == expected.hash.byteCount * 8 {
          #expect(key.isValid(tag, for: message) == (test.result == .valid), "case \(test.tcId)")
          counts.whole += 1
        } else {
          // Truncated MACs are never valid here, even if their bytes match.
          #expect(!key.isValid(tag, for: message), "case \(test.tcId)")
          counts.shortened += 1
        }
      }
    }
    #expect(counts.whole + counts.shortened == file.numberOfTests)
    #expect(counts == (expected.whole, expected.shortened))
  }
}
