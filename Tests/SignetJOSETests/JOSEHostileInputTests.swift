import SignetCrypto
import SignetJOSE
import SignetJSON
import Testing

/// Random damage: every input is rejected with a typed failure, and nothing crashes.
@Suite struct JOSEHostileInputTests {
  /// A small generator with a seed, so that a failure can be repeated.
  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  private func damaged(_ text: String, _ random: inout Generator) -> String {
    var bytes = Array(text.utf8)
    for _ in 0...Int.random(in: 0..<3, using: &random) where !bytes.isEmpty {
      let index = Int.random(in: bytes.indices, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: index)
      case 2: bytes.insert(UInt8(ascii: "."), at: index)
      case 3: bytes.removeSubrange(index...)
      default: bytes.insert(contentsOf: bytes[index...].prefix(40), at: index)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("damaged JWS", arguments: 0..<8)
  func damagedJWS(_ seed: UInt64) throws {
    var random = Generator(state: seed)
    let privateKey = P256.Signing.PrivateKey()
    let key = VerificationKey(privateKey.publicKey)
    let good = try JWS.sign(Array("payload".utf8), with: SigningKey(privateKey, keyID: "k"))
    for _ in 0..<500 {
      let text = damaged(good, &random)
      guard text != good else { continue }
      #expect(throws: JOSEFailure.self) { try JWS(compact: text).verified(with: key, allowing: [.es256]) }
    }
  }

  @Test("damaged JWE", arguments: 0..<8)
  func damagedJWE(_ seed: UInt64) throws {
    var random = Generator(state: seed)
    let privateKey = P256.KeyAgreement.PrivateKey()
    let key = DecryptionKey(privateKey)
    let good = try JWE.encrypt(Array("payload".utf8), for: EncryptionKey(privateKey.publicKey), .ecdhESA256KW)
    for _ in 0..<500 {
      let text = damaged(good, &random)
      guard text != good else { continue }
      #expect(throws: JOSEFailure.self) {
        try JWE(compact: text).decrypted(with: key, allowing: [.ecdhESA256KW], [.a256GCM])
      }
    }
  }

  @Test("damaged JWK: read or refused", arguments: 0..<8)
  func damagedJWK(_ seed: UInt64) throws {
    var random = Generator(state: seed)
    let good = try JWK(P256.Signing.PrivateKey().publicKey, keyID: "k").publicObject().text
    var refused = 0
    for _ in 0..<500 {
      do {
        let key = try JWK(parsing: Array(damaged(good, &random).utf8))
        #expect(key.keyType == "EC")
      } catch {
        #expect(!error.description.isEmpty)
        refused += 1
      }
    }
    #expect(refused > 100)
  }

  @Test("every failure names the remedy, and none repeats the input")
  func describesFailures() {
    let failures: [JOSEFailure] = [
      .tooLarge(byteCount: 2, limit: 1), .wrongSegmentCount(expected: 3), .notBase64URL(.header),
      .wrongLength(.ciphertext),
      .malformedHeader(.notAnObject), .malformedCritical, .unknownCritical, .unencodedPayload, .compressed,
      .unsecured,
      .unsupportedAlgorithm, .algorithmNotAllowed, .emptySignature, .invalidSignature, .decryptionFailed,
      .malformedKey(.notAnObject), .unsupportedKeyType, .unsupportedCurve, .invalidKey, .weakKey,
      .privateKeyMissing,
      .keyNotPermitted, .duplicateKeyID, .mixedKeySet, .keyNotFound, .malformedClaims(.notAnObject), .expired,
      .notYetValid, .issuedInFuture, .tooOld, .wrongIssuer, .wrongSubject, .wrongAudience, .wrongType,
      .cryptography(.authenticationFailed),
    ]
    #expect(Set(failures.map(\.description)).count == failures.count)
  }
}
