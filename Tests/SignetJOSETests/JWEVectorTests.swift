import SignetCrypto
import SignetJOSE
import SignetJSON
import Testing

@Suite struct JWEVectorTests {
  static let everyKeyAlgorithm = Set(KeyManagementAlgorithm.allCases)
  static let everyContentAlgorithm = Set(ContentEncryptionAlgorithm.allCases)

  @Test("RFC 7516 appendix A.3 and RFC 7520 section 5", arguments: try Vector.load("jwe"))
  func matchesTheStandards(_ vector: Vector) throws {
    let key = try DecryptionKey(JWK(vector.members.object("key")))
    let keyAlgorithm = try #require(KeyManagementAlgorithm(rawValue: vector.members.string("keyAlgorithm")))
    let contentAlgorithm = try #require(
      ContentEncryptionAlgorithm(rawValue: vector.members.string("contentAlgorithm")))
    let compact = try vector.members.string("jwe")
    let opened = try JWE(compact: compact).decrypted(with: key, allowing: [keyAlgorithm], [contentAlgorithm])
    #expect(try opened.plaintext == vector.members.bytes("plaintext"))
    #expect(opened.keyAlgorithm == keyAlgorithm && opened.contentAlgorithm == contentAlgorithm)
    let bytes = Array(compact.utf8)
    for index in stride(from: 0, to: bytes.count, by: 5) {
      var changed = bytes
      changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(throws: JOSEFailure.self) {
        try JWE(compact: String(decoding: changed, as: UTF8.self)).decrypted(
          with: key, allowing: Self.everyKeyAlgorithm, Self.everyContentAlgorithm)
      }
    }
    for others in [Self.everyKeyAlgorithm.subtracting([keyAlgorithm]), []] {
      #expect(throws: JOSEFailure.algorithmNotAllowed) {
        try JWE(compact: compact).decrypted(with: key, allowing: others, [contentAlgorithm])
      }
    }
    #expect(throws: JOSEFailure.algorithmNotAllowed) {
      try JWE(compact: compact).decrypted(
        with: key, allowing: [keyAlgorithm], Self.everyContentAlgorithm.subtracting([contentAlgorithm]))
    }
  }

  @Test("what is not supported is refused by name", arguments: try Vector.load("jwe-refused"))
  func refusesTheRest(_ vector: Vector) throws {
    let failures: [String: JOSEFailure] = [
      "unsupportedAlgorithm": .unsupportedAlgorithm, "unsupportedCurve": .unsupportedCurve,
      "compressed": .compressed,
    ]
    let failure = try #require(failures[vector.members.string("failure")])
    let key = DecryptionKey(P256.KeyAgreement.PrivateKey())
    #expect(throws: failure) {
      try JWE(compact: vector.members.string("jwe")).decrypted(
        with: key, allowing: Self.everyKeyAlgorithm, Self.everyContentAlgorithm)
    }
  }

  @Test("RFC 7518 appendix C: the agreed key")
  func agreesTheStandardsKey() throws {
    let alice = try JWK([
      "kty": "EC", "crv": "P-256", "x": "gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0",
      "y": "SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps", "d": "0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo",
    ])
    let bob = try JWK([
      "kty": "EC", "crv": "P-256", "x": "weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ",
      "y": "e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck", "d": "VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw",
    ])
    // Content encrypted with the derived key in the standard, with a header like the standard's.
    let header: JSONObject = [
      "alg": "ECDH-ES", "enc": "A128GCM", "apu": "QWxpY2U", "apv": "Qm9i",
      "epk": .object(try alice.publicObject()),
    ]
    let protected = Base64URL.encode(header.bytes)
    let derived = SecretBytes(copying: try Base64URL.decode("VqqN6vgjbSBcIijNcacQGg"))
    let nonce = [UInt8](repeating: 9, count: 12)
    let sealed = try AESGCM.seal(
      [1, 2, 3], key: derived, nonce: nonce, additionalData: Array(protected.utf8))
    let parts = [nonce, sealed.ciphertext, sealed.tag].map(Base64URL.encode).joined(separator: ".")
    let jwe = try JWE(compact: "\(protected)..\(parts)")
    #expect(
      try jwe.decrypted(with: DecryptionKey(bob), allowing: [.ecdhES], [.a128GCM]).plaintext == [1, 2, 3])
    // Also with Z, as hardware would provide it.
    let z = SecretBytes(
      copying: try Hex.decode("9e56d91d817135d372834283bf84269cfb316ea3da806a48f6daa7798cfe90c4"))
    #expect(try jwe.decrypted(withSharedSecret: z, allowing: [.ecdhES], [.a128GCM]).plaintext == [1, 2, 3])
    guard case .p256(let alicePublic, _) = alice.material else { throw JOSEFailure.invalidKey }
    #expect(try jwe.ephemeralPublicKey().x963Representation == alicePublic.x963Representation)
  }
}
