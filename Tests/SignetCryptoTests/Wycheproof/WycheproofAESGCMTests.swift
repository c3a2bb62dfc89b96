import SignetCrypto
import Testing

@Suite("Wycheproof AES-GCM", .enabled(if: WycheproofVectors.arePresent))
struct WycheproofAESGCMTests {
  struct Group: Decodable {
    let ivSize: Int
    let keySize: Int
    let tagSize: Int
    let tests: [Case]
  }

  struct Case: Decodable {
    let tcId: Int
    let key: String
    let iv: String
    let aad: String
    let msg: String
    let ct: String
    let tag: String
    let result: WycheproofResult
  }

  @Test("aes_gcm_test.json: every case; unsupported sizes are refused by name")
  func everyCase() throws {
    let file = try WycheproofFile<Group>("aes_gcm_test.json")
    var counts = (applicable: 0, nonceRefused: 0, keyRefused: 0)
    for group in file.testGroups {
      #expect(group.tagSize == 128)
      for test in group.tests {
        if group.keySize == 192 {
          #expect(throws: CryptoFailure.keyLength(24), "case \(test.tcId)") { try open(test) }
          counts.keyRefused += 1
        } else if group.ivSize != 96 {
          #expect(throws: CryptoFailure.nonceLength(group.ivSize / 8), "case \(test.tcId)") { try open(test) }
          counts.nonceRefused += 1
        } else {
          try check(test)
          counts.applicable += 1
        }
      }
    }
    #expect(counts.applicable + counts.nonceRefused + counts.keyRefused == file.numberOfTests)
    // 192-bit keys and nonces of other than 96 bits are not supported.
    #expect(counts == (applicable: 133, nonceRefused: 80, keyRefused: 103))
  }

  private func open(_ test: Case) throws -> [UInt8] {
    try AESGCM.openBytes(
      bytes(test.ct), tag: bytes(test.tag), key: secret(test.key), nonce: bytes(test.iv),
      additionalData: bytes(test.aad))
  }

  private func check(_ test: Case) throws {
    switch test.result {
    case .valid:
      #expect(try open(test) == bytes(test.msg), "case \(test.tcId)")
      let sealed = try AESGCM.seal(
        bytes(test.msg), key: secret(test.key), nonce: bytes(test.iv), additionalData: bytes(test.aad))
      #expect(try sealed.ciphertext == bytes(test.ct), "case \(test.tcId)")
      #expect(try sealed.tag == bytes(test.tag), "case \(test.tcId)")
    case .invalid:
      #expect(throws: CryptoFailure.authenticationFailed, "case \(test.tcId)") { try open(test) }
    case .acceptable:
      Issue.record("case \(test.tcId) is acceptable; decide")
    }
  }
}
