import SignetCrypto
import SignetJOSE
import SignetJSON
import Testing

@Suite struct JWSVectorTests {
  @Test("RFC 7515 appendix A and RFC 7520 section 4", arguments: try Vector.load("jws"))
  func matchesTheStandards(_ vector: Vector) throws {
    let keyObject = try vector.members.object("key")
    if vector.members.contains("refusedKey") {
      #expect(throws: JOSEFailure.unsupportedCurve) { try JWK(keyObject) }
      let other = VerificationKey(P256.Signing.PrivateKey().publicKey)
      let jws = try JWS(compact: vector.members.string("jws"))
      #expect(throws: JOSEFailure.unsupportedAlgorithm) { try jws.verified(with: other, allowing: [.es256]) }
      return
    }
    let jwk = try JWK(keyObject)
    let key = try VerificationKey(jwk)
    let algorithm = try #require(SignatureAlgorithm(rawValue: vector.members.string("algorithm")))
    let compact = try vector.members.string("jws")
    let verified = try JWS(compact: compact).verified(with: key, allowing: [algorithm])
    #expect(try verified.payload == vector.members.bytes("payload"))
    #expect(verified.algorithm == algorithm)
    #expect(verified.keyID == jwk.keyID)
    try refusesChanges(compact, key, algorithm)
    for other in SignatureAlgorithm.allCases where other != algorithm {
      #expect(throws: JOSEFailure.algorithmNotAllowed) {
        try JWS(compact: compact).verified(with: key, allowing: [other])
      }
    }
  }

  @Test("RFC 7515 appendix A.1: the MAC that the standard prints")
  func signsAsTheStandard() throws {
    let sets = try #require(try Vector.file("jwk").object)
    let set = try JWKSet(sets.object("symmetricKeys"))
    let jwk = try #require(set.key(withID: "HMAC key used in JWS A.1 example"))
    guard case .symmetric(let secret) = jwk.material else { throw JOSEFailure.unsupportedKeyType }
    let vector = try #require(try Vector.load("jws").first { $0.id == "RFC 7515 A.1 HS256" })
    let parts = try vector.members.string("jws").split(separator: ".").map(String.init)
    let mac = secret.withSecret { HMACKey($0, .sha256) }.authenticationCode(
      for: Array("\(parts[0]).\(parts[1])".utf8))
    #expect(Base64URL.encode(mac) == parts[2])
    // Our own header has no white space, so the whole text differs; it verifies with the same key.
    let jws = try JWS.sign(vector.members.bytes("payload"), with: SigningKey(jwk), type: "JWT")
    let verified = try JWS(compact: jws).verified(with: VerificationKey(jwk), allowing: [.hs256])
    #expect(verified.header.type == "JWT")
  }

  @Test("RFC 7515 appendices A.5 and E are refused")
  func refusesUnsecured() throws {
    let payload = Base64URL.encode(Array(#"{"iss":"joe"}"#.utf8))
    let key = VerificationKey(P256.Signing.PrivateKey().publicKey)
    let unsecured = try JWS(compact: "eyJhbGciOiJub25lIn0.\(payload).")
    #expect(throws: JOSEFailure.unsecured) {
      try unsecured.verified(with: key, allowing: Set(SignatureAlgorithm.allCases))
    }
    #expect(throws: JOSEFailure.unknownCritical) {
      try JWS(
        compact: "eyJhbGciOiJub25lIiwNCiAiY3JpdCI6WyJodHRwOi8vZXhhbXBsZS5jb20vVU5ERUZJTkVEIl0sDQog"
          + "Imh0dHA6Ly9leGFtcGxlLmNvbS9VTkRFRklORUQiOnRydWUNCn0.RkFJTA.")
    }
  }

  /// Expects that every changed character, and every missing end, is rejected.
  private func refusesChanges(
    _ compact: String, _ key: VerificationKey, _ algorithm: SignatureAlgorithm
  ) throws {
    let bytes = Array(compact.utf8)
    for index in stride(from: 0, to: bytes.count, by: 7) {
      var changed = bytes
      changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(throws: JOSEFailure.self) {
        try JWS(compact: String(decoding: changed, as: UTF8.self)).verified(with: key, allowing: [algorithm])
      }
      #expect(throws: JOSEFailure.self) {
        try JWS(compact: String(decoding: bytes[..<index], as: UTF8.self)).verified(
          with: key, allowing: [algorithm])
      }
    }
  }
}

extension JSONValue {
  /// The object, or `nil` for another value.
  var object: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }
}
