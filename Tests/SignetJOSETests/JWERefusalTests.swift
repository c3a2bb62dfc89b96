import SignetCrypto
import SignetJOSE
import SignetJSON
import Testing

@Suite struct JWERefusalTests {
  private let privateKey = P256.KeyAgreement.PrivateKey()
  private var key: DecryptionKey { DecryptionKey(privateKey, keyID: "d") }

  private func open(_ compact: String, _ key: DecryptionKey? = nil) throws(JOSEFailure) -> [UInt8] {
    try JWE(compact: compact).decrypted(
      with: key ?? self.key, allowing: JWEVectorTests.everyKeyAlgorithm, JWEVectorTests.everyContentAlgorithm
    ).plaintext
  }

  private func seal(
    _ keyAlgorithm: KeyManagementAlgorithm = .ecdhES,
    _ contentAlgorithm: ContentEncryptionAlgorithm = .a256GCM
  ) throws -> [String] {
    let key = EncryptionKey(privateKey.publicKey, keyID: "d")
    return try JWE.encrypt(Array("hello".utf8), for: key, keyAlgorithm, contentAlgorithm)
      .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  /// The same JWE with another header; its tag no longer matches, but it is rejected earlier.
  private func withHeader(_ change: (inout JSONObject) -> Void) throws -> String {
    var parts = try seal()
    var header = try JSONObject(parsing: Base64URL.decode(parts[0]))
    change(&header)
    parts[0] = Base64URL.encode(header.bytes)
    return parts.joined(separator: ".")
  }

  @Test("every algorithm encrypts and decrypts, with and without party information")
  func roundTrips() throws {
    for contentAlgorithm in ContentEncryptionAlgorithm.allCases {
      for keyAlgorithm in [KeyManagementAlgorithm.ecdhES, .ecdhESA128KW, .ecdhESA192KW, .ecdhESA256KW] {
        for info in [nil, JWE.PartyInfo(partyU: [1], partyV: [2, 3])] {
          let compact = try JWE.encrypt(
            [4, 5], for: EncryptionKey(privateKey.publicKey, keyID: "d"), keyAlgorithm, contentAlgorithm,
            type: "t",
            contentType: "c", partyInfo: info, parameters: ["x": 1])
          let opened = try JWE(compact: compact).decrypted(
            with: key, allowing: [keyAlgorithm], [contentAlgorithm])
          #expect(opened.plaintext == [4, 5] && opened.keyID == "d" && opened.header.keyID == "d")
          #expect(opened.header.type == "t" && opened.header.contentType == "c")
        }
      }
      for (keyAlgorithm, count) in [
        (KeyManagementAlgorithm.direct, contentAlgorithm.keyByteCount), (.a128KW, 16), (.a192KW, 24),
        (.a256KW, 32),
      ] {
        let secret = SharedSecretBox(SecretBytes.random(byteCount: count))
        let compact = try JWE.encrypt([], for: EncryptionKey(secret), keyAlgorithm, contentAlgorithm)
        #expect(try open(compact, DecryptionKey(secret)).isEmpty)
      }
    }
  }

  @Test("headers that are refused")
  func refusesHeaders() throws {
    let cases: [(JOSEFailure, (inout JSONObject) -> Void)] = [
      (.compressed, { $0["zip"] = "DEF" }), (.compressed, { $0["zip"] = nil ?? .null }),
      (.unencodedPayload, { $0["b64"] = true }), (.malformedCritical, { $0["crit"] = ["enc"] }),
      (
        .unknownCritical,
        {
          $0["crit"] = ["x"]; $0["x"] = 1
        }
      ),
      (.malformedHeader(.missingMember("enc")), { $0["enc"] = nil }),
      (.malformedHeader(.missingMember("alg")), { $0["alg"] = nil }),
      (.malformedHeader(.wrongType(member: "enc", expected: .string)), { $0["enc"] = 1 }),
      (.unsecured, { $0["alg"] = "none" }), (.unsupportedAlgorithm, { $0["alg"] = "RSA1_5" }),
      (.unsupportedAlgorithm, { $0["enc"] = "A256CTR" }), (.unsupportedAlgorithm, { $0["alg"] = "ecdh-es" }),
      (.keyNotPermitted, { $0["alg"] = "dir" }), (.keyNotPermitted, { $0["alg"] = "A256KW" }),
      (.wrongLength(.initializationVector), { $0["enc"] = "A128CBC-HS256" }),
      (.wrongLength(.encryptedKey), { $0["alg"] = "ECDH-ES+A256KW" }),
      (.malformedHeader(.missingMember("epk")), { $0["epk"] = nil }),
      (.malformedHeader(.wrongType(member: "epk", expected: .object)), { $0["epk"] = "x" }),
      (.malformedHeader(.notBase64URL(member: "apu")), { $0["apu"] = "=" }),
      (.malformedHeader(.wrongType(member: "apv", expected: .string)), { $0["apv"] = 1 }),
      (.decryptionFailed, { $0["apu"] = "AA" }), (.decryptionFailed, { $0["enc"] = "A128GCM" }),
      (.decryptionFailed, { $0["kid"] = "e" }),
    ]
    for (failure, change) in cases {
      let compact = try withHeader(change)
      #expect(throws: failure) { try open(compact) }
    }
  }

  @Test("ephemeral keys that are off the curve, on another one or not public")
  func refusesEphemeralKeys() throws {
    let cases: [(String, JSONValue?, JOSEFailure)] = [
      ("crv", "P-384", .unsupportedCurve), ("crv", "secp256k1", .unsupportedCurve),
      ("kty", "OKP", .unsupportedCurve),
      ("crv", nil, .malformedHeader(.missingMember("crv"))), ("x", nil, .malformedKey(.missingMember("x"))),
      ("x", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", .invalidKey), ("x", "AA", .invalidKey),
      ("y", "AA", .invalidKey),
      ("y", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", .invalidKey), ("x", "", .invalidKey),
      ("d", "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI", .invalidKey),
    ]
    for (name, value, failure) in cases {
      let compact = try withHeader { header in
        var ephemeral = header["epk"]?.object ?? [:]
        ephemeral[name] = value
        header["epk"] = .object(ephemeral)
      }
      #expect(throws: failure) { try open(compact) }
    }
  }

  @Test("shapes and lengths")
  func refusesShapes() throws {
    let parts = try seal()
    let whole = parts.joined(separator: ".")
    #expect(try open(whole) == Array("hello".utf8))
    for text in ["", ".....", "....", parts[0], whole + ".", "a.b.c"] {
      #expect(throws: JOSEFailure.self) { try open(text) }
    }
    #expect(throws: JOSEFailure.wrongSegmentCount(expected: 5)) { try JWE(compact: whole + ".") }
    #expect(throws: JOSEFailure.tooLarge(byteCount: whole.utf8.count, limit: 50)) {
      try JWE(compact: whole, maximumByteCount: 50)
    }
    for (index, part) in [
      JOSEFailure.Part.header, .encryptedKey, .initializationVector, .ciphertext, .authenticationTag,
    ].enumerated() {
      var spoilt = parts
      spoilt[index] += "="
      #expect(throws: JOSEFailure.notBase64URL(part)) { try JWE(compact: spoilt.joined(separator: ".")) }
    }
    func changed(_ index: Int, _ bytes: [UInt8]) -> String {
      var other = parts
      other[index] = Base64URL.encode(bytes)
      return other.joined(separator: ".")
    }
    let tag = try Base64URL.decode(parts[4])
    #expect(throws: JOSEFailure.wrongLength(.encryptedKey)) { try open(changed(1, [1])) }
    #expect(throws: JOSEFailure.wrongLength(.initializationVector)) { try open(changed(2, [])) }
    #expect(throws: JOSEFailure.wrongLength(.authenticationTag)) { try open(changed(4, [])) }
    #expect(throws: JOSEFailure.wrongLength(.authenticationTag)) {
      try open(changed(4, Array(tag.prefix(12))))
    }
    #expect(throws: JOSEFailure.decryptionFailed) { try open(changed(3, [])) }
  }

  @Test("each change of the protected parts gives the same failure")
  func failuresLookAlike() throws {
    for contentAlgorithm in ContentEncryptionAlgorithm.allCases {
      let parts = try seal(.ecdhESA256KW, contentAlgorithm)
      for index in 1...4 {
        var bytes = try Base64URL.decode(parts[index])
        bytes[0] ^= 1
        var other = parts
        other[index] = Base64URL.encode(bytes)
        #expect(throws: JOSEFailure.decryptionFailed) { try open(other.joined(separator: ".")) }
      }
      let stranger = DecryptionKey(P256.KeyAgreement.PrivateKey())
      #expect(throws: JOSEFailure.decryptionFailed) { try open(parts.joined(separator: "."), stranger) }
    }
  }

  @Test("CBC: a partial block or wrong padding is refused despite a valid MAC")
  func refusesWrongPadding() throws {
    let secret = [UInt8](repeating: 3, count: 32)
    let key = try DecryptionKey(SharedSecretBox(SecretBytes(copying: secret)))
    let protected = Base64URL.encode(Array(#"{"alg":"dir","enc":"A128CBC-HS256"}"#.utf8))
    let iv = [UInt8](repeating: 4, count: 16)
    for ciphertext in [[], [1], [UInt8](repeating: 5, count: 16), [UInt8](repeating: 6, count: 17)] {
      let aad = Array(protected.utf8)
      let bits = aad.count * 8
      let length: [UInt8] = [0, 0, 0, 0, 0, 0, UInt8(bits >> 8), UInt8(bits & 0xFF)]
      let macKey = HMACKey(SecretBytes(copying: Array(secret.prefix(16))), .sha256)
      let tag = Array(macKey.authenticationCode(for: aad + iv + ciphertext + length).prefix(16))
      let parts = [iv, ciphertext, tag].map(Base64URL.encode).joined(separator: ".")
      #expect(throws: JOSEFailure.decryptionFailed) { try open("\(protected)..\(parts)", key) }
    }
  }

  @Test("mismatched keys and algorithms are refused before encryption")
  func refusesWhenEncrypting() throws {
    let secret = try EncryptionKey(SharedSecretBox(SecretBytes.random(byteCount: 32)))
    #expect(throws: JOSEFailure.keyNotPermitted) { try JWE.encrypt([], for: secret) }
    #expect(throws: JOSEFailure.keyNotPermitted) { try JWE.encrypt([], for: secret, .direct, .a128GCM) }
    #expect(throws: JOSEFailure.keyNotPermitted) { try JWE.encrypt([], for: secret, .a128KW) }
    #expect(throws: JOSEFailure.keyNotPermitted) {
      try JWE.encrypt([], for: secret, .direct, partyInfo: JWE.PartyInfo(partyU: [], partyV: []))
    }
    let reader = EncryptionKey(privateKey.publicKey)
    #expect(throws: JOSEFailure.keyNotPermitted) { try JWE.encrypt([], for: reader, .direct) }
    #expect(throws: JOSEFailure.malformedHeader(.duplicateMember(offset: 0))) {
      try JWE.encrypt([], for: reader, parameters: ["epk": 1])
    }
    #expect(throws: JOSEFailure.keyNotPermitted) {
      try EncryptionKey(SharedSecretBox(SecretBytes.random(byteCount: 31)))
    }
  }

  @Test("an externally agreed secret works only with key agreement algorithms")
  func refusesSharedSecretForOthers() throws {
    let box = SharedSecretBox(SecretBytes.random(byteCount: 32))
    let jwe = try JWE(compact: JWE.encrypt([], for: EncryptionKey(box), .direct))
    #expect(throws: JOSEFailure.keyNotPermitted) {
      try box.withSecret { try jwe.decrypted(withSharedSecret: $0, allowing: [.direct], [.a256GCM]) }
    }
  }
}
