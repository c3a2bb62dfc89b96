import SignetCrypto
import Testing

@Suite("Wycheproof ECDH", .enabled(if: WycheproofVectors.arePresent))
struct WycheproofECDHTests {
  struct Group: Decodable {
    let curve: String
    let encoding: String
    let tests: [Case]
  }

  struct Case: Decodable {
    let tcId: Int
    let comment: String
    let `public`: String
    let `private`: String
    let shared: String
    let result: WycheproofResult
  }

  /// Acceptable cases are compressed points, explicit curve parameters and lax DER.
  ///
  /// All are rejected: a public key has one encoding here, and no peer sends another.
  @Test("ecdh_secp256r1_test.json: every case")
  func everyCase() throws {
    let file = try WycheproofFile<Group>("ecdh_secp256r1_test.json")
    var counts = (agreed: 0, refused: 0, acceptableRefused: 0)
    for group in file.testGroups {
      #expect(group.curve == "secp256r1")
      #expect(group.encoding == "asn")
      for test in group.tests {
        switch test.result {
        case .valid:
          #expect(try sharedSecret(test) == bytes(test.shared), "case \(test.tcId)")
          counts.agreed += 1
        case .invalid:
          #expect(throws: CryptoFailure.self, "case \(test.tcId): \(test.comment)") { try publicKey(test) }
          counts.refused += 1
        case .acceptable:
          #expect(
            throws: CryptoFailure.self, "case \(test.tcId): \(test.comment)"
          ) { try publicKey(test) }
          counts.acceptableRefused += 1
        }
      }
    }
    #expect(counts.agreed + counts.refused + counts.acceptableRefused == file.numberOfTests)
    #expect(counts == (agreed: 330, refused: 52, acceptableRefused: 230))
  }

  private func publicKey(_ test: Case) throws -> P256.KeyAgreement.PublicKey {
    try P256.KeyAgreement.PublicKey(der: bytes(test.public))
  }

  private func sharedSecret(_ test: Case) throws -> [UInt8] {
    // The file writes scalars as integers: a leading zero for the sign, or fewer digits.
    let digits = try bytes(test.private).drop { $0 == 0 }
    let scalar = SecretBytes(copying: [UInt8](repeating: 0, count: 32 - digits.count) + digits)
    let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: scalar)
    return try key.sharedSecret(with: publicKey(test)).insecureCopy()
  }
}
