import SignetCrypto
import Testing

@Suite("Wycheproof ECDSA", .enabled(if: WycheproofVectors.arePresent))
struct WycheproofECDSATests {
  struct Group: Decodable {
    struct Key: Decodable {
      let uncompressed: String
    }

    let publicKey: Key
    let publicKeyDer: String
    let publicKeyPem: String
    let sha: String
    let tests: [Case]
  }

  struct Case: Decodable {
    let tcId: Int
    let comment: String
    let msg: String
    let sig: String
    let result: WycheproofResult
  }

  @Test("ecdsa_secp256r1_sha256_test.json: every case, signatures in DER")
  func everyDERCase() throws {
    let counts = try run("ecdsa_secp256r1_sha256_test.json") { signature throws(CryptoFailure) in
      try ECDSASignature(derRepresentation: signature)
    }
    #expect(counts == (valid: 174, invalid: 310))
  }

  @Test("ecdsa_secp256r1_sha256_p1363_test.json: every case, signatures of 64 bytes")
  func everyRawCase() throws {
    let counts = try run("ecdsa_secp256r1_sha256_p1363_test.json") { signature throws(CryptoFailure) in
      try ECDSASignature(rawRepresentation: signature)
    }
    #expect(counts == (valid: 173, invalid: 89))
  }

  private func run(
    _ name: String, _ decode: ([UInt8]) throws(CryptoFailure) -> ECDSASignature
  ) throws -> (valid: Int, invalid: Int) {
    let file = try WycheproofFile<Group>(name)
    var counts = (valid: 0, invalid: 0)
    for group in file.testGroups {
      #expect(group.sha == "SHA-256")
      let key = try P256.Signing.PublicKey(x963: bytes(group.publicKey.uncompressed))
      #expect(try key == P256.Signing.PublicKey(der: bytes(group.publicKeyDer)))
      #expect(try key.derRepresentation == bytes(group.publicKeyDer))
      #expect(key.pemRepresentation == group.publicKeyPem)
      for test in group.tests {
        let isValid = try accepts(test, by: key, decode)
        // Another function verifies a key's first signature than the later ones.
        let fresh = try P256.Signing.PublicKey(x963: bytes(group.publicKey.uncompressed))
        #expect(try accepts(test, by: fresh, decode) == isValid, "case \(test.tcId)")
        switch test.result {
        case .valid:
          #expect(isValid, "case \(test.tcId): \(test.comment)")
          counts.valid += 1
        case .invalid:
          #expect(!isValid, "case \(test.tcId): \(test.comment)")
          counts.invalid += 1
        case .acceptable:
          Issue.record("case \(test.tcId) is acceptable; decide")
        }
      }
    }
    #expect(counts.valid + counts.invalid == file.numberOfTests)
    return counts
  }

  private func accepts(
    _ test: Case, by key: P256.Signing.PublicKey,
    _ decode: ([UInt8]) throws(CryptoFailure) -> ECDSASignature
  ) throws -> Bool {
    let (encoded, message) = (try bytes(test.sig), try bytes(test.msg))
    do throws(CryptoFailure) {
      return key.isValidSignature(try decode(encoded), for: message)
    } catch {
      #expect(error == .invalidSignatureEncoding, "case \(test.tcId)")
      return false
    }
  }
}
