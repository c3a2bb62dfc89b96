import SignetCrypto
import SignetJOSE
import SignetJSON
import Testing

@Suite struct JWSRefusalTests {
  private let privateKey = P256.Signing.PrivateKey()
  private var key: VerificationKey { VerificationKey(privateKey.publicKey) }
  private let secret = [UInt8](repeating: 7, count: 64)

  /// A text with any header and a valid signature.
  private func signed(header: String, payload: String = "foo") throws -> String {
    let input = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(payload.utf8)))"
    let signature = try privateKey.signature(for: Array(input.utf8)).rawRepresentation
    return "\(input).\(Base64URL.encode(signature))"
  }

  @Test(
    "invalid headers are refused despite a valid signature",
    arguments: [
      (#"{"alg":"ES256","alg":"ES256"}"#, JOSEFailure.malformedHeader(.duplicateMember(offset: 15))),
      (#"{"alg":"ES256","\u0061lg":"none"}"#, .malformedHeader(.duplicateMember(offset: 15))),
      (#"{"alg":"ES256"} "x""#, .malformedHeader(.trailingData(offset: 16))),
      (#"{"alg":"ES256"}{}"#, .malformedHeader(.trailingData(offset: 15))),
      (#"{}"#, .malformedHeader(.missingMember("alg"))),
      (#"{"alg":null}"#, .malformedHeader(.wrongType(member: "alg", expected: .string))),
      (#"{"alg":["ES256"]}"#, .malformedHeader(.wrongType(member: "alg", expected: .string))),
      (#"{"alg":"ES256","kid":1}"#, .malformedHeader(.wrongType(member: "kid", expected: .string))),
      (#"{"alg":"ES256","typ":{}}"#, .malformedHeader(.wrongType(member: "typ", expected: .string))),
      (#"{"alg":"ES256","cty":1}"#, .malformedHeader(.wrongType(member: "cty", expected: .string))),
      (#"["ES256"]"#, .malformedHeader(.notAnObject)),
      (#"{"alg":"ES256","crit":["exp"],"exp":1}"#, .unknownCritical),
      (#"{"alg":"ES256","crit":["b64"],"b64":true}"#, .unknownCritical),
      (#"{"alg":"ES256","crit":[]}"#, .malformedCritical),
      (#"{"alg":"ES256","crit":"exp","exp":1}"#, .malformedCritical),
      (#"{"alg":"ES256","crit":null}"#, .malformedCritical),
      (#"{"alg":"ES256","crit":[1]}"#, .malformedCritical),
      (#"{"alg":"ES256","crit":["exp"]}"#, .malformedCritical),
      (#"{"alg":"ES256","crit":["alg"]}"#, .malformedCritical),
      (#"{"alg":"ES256","crit":["exp","exp"],"exp":1}"#, .malformedCritical),
      (#"{"alg":"ES256","b64":false}"#, .unencodedPayload),
      (#"{"alg":"ES256","b64":true}"#, .unencodedPayload),
    ] as [(String, JOSEFailure)])
  func refusesHeader(_ header: String, _ failure: JOSEFailure) throws {
    let compact = try signed(header: header)
    #expect(throws: failure) { try JWS(compact: compact) }
  }

  @Test(
    "algorithms are the caller's choice",
    arguments: [
      ("none", JOSEFailure.unsecured), ("None", .unsupportedAlgorithm), ("NONE", .unsupportedAlgorithm),
      ("", .unsupportedAlgorithm), ("es256", .unsupportedAlgorithm), ("ES512", .unsupportedAlgorithm),
      ("ECDH-ES", .unsupportedAlgorithm), ("ES256\u{212A}", .unsupportedAlgorithm),
      ("HS256", .algorithmNotAllowed), ("ES256K", .algorithmNotAllowed), ("RS256", .algorithmNotAllowed),
    ] as [(String, JOSEFailure)])
  func refusesAlgorithm(_ algorithm: String, _ failure: JOSEFailure) throws {
    let jws = try JWS(compact: signed(header: #"{"alg":"\#(algorithm)"}"#))
    #expect(throws: failure) { try jws.verified(with: key, allowing: [.es256]) }
  }

  @Test("a key takes no algorithm of another type, even if the caller allows it")
  func refusesTypeConfusion() throws {
    // The public key as an HMAC key, in each form that libraries have accepted.
    let input = "\(Base64URL.encode(Array(#"{"alg":"HS256"}"#.utf8))).Zm9v"
    let forms = [
      privateKey.publicKey.x963Representation, privateKey.publicKey.derRepresentation,
      Array(privateKey.publicKey.pemRepresentation.utf8),
    ]
    for form in forms {
      let mac = HMACKey(SecretBytes(copying: form), .sha256).authenticationCode(for: Array(input.utf8))
      let jws = try JWS(compact: "\(input).\(Base64URL.encode(mac))")
      #expect(throws: JOSEFailure.keyNotPermitted) {
        try jws.verified(with: key, allowing: Set(SignatureAlgorithm.allCases))
      }
    }
  }

  @Test("a key in the header is not used")
  func ignoresEmbeddedKey() throws {
    let attacker = P256.Signing.PrivateKey()
    let embedded = try JWK(attacker.publicKey).publicObject()
    let compact = try JWS.sign(
      Array("foo".utf8), with: SigningKey(attacker), parameters: ["jwk": .object(embedded)])
    #expect(throws: JOSEFailure.invalidSignature) {
      try JWS(compact: compact).verified(with: key, allowing: [.es256])
    }
  }

  @Test("shapes that are no compact serialization")
  func refusesShapes() throws {
    let good = try signed(header: #"{"alg":"ES256"}"#)
    let parts = good.split(separator: ".").map(String.init)
    for text in ["", ".", "a", parts[0], "\(parts[0]).\(parts[1])", good + ".", good + ".x", "." + good] {
      #expect(throws: JOSEFailure.wrongSegmentCount(expected: 3)) { try JWS(compact: text) }
    }
    #expect(throws: JOSEFailure.malformedHeader(.unexpectedEnd(offset: 0))) { try JWS(compact: "..") }
    for (index, part) in [JOSEFailure.Part.header, .payload, .signature].enumerated() {
      for spoil in ["=", " ", "\n", "+", "/", "é", "\0"] {
        var spoilt = parts
        spoilt[index] += spoil
        #expect(throws: JOSEFailure.notBase64URL(part)) { try JWS(compact: spoilt.joined(separator: ".")) }
      }
    }
    // "Zm9" has two spare bits; "Zm8" is the only encoding of these two bytes.
    #expect(throws: JOSEFailure.notBase64URL(.payload)) { try JWS(compact: "\(parts[0]).Zm9.\(parts[2])") }
    #expect(throws: JOSEFailure.tooLarge(byteCount: good.utf8.count, limit: 100)) {
      try JWS(compact: good, maximumByteCount: 100)
    }
    #expect(throws: JOSEFailure.tooLarge(byteCount: 65_537, limit: 65_536)) {
      try JWS(compact: String(repeating: "A", count: 65_537))
    }
    let longHeader = #"{"alg":"ES256","x":"\#(String(repeating: "x", count: 16_384))"}"#
    #expect(throws: JOSEFailure.malformedHeader(.tooLarge(byteCount: longHeader.utf8.count, limit: 16_384))) {
      try JWS(compact: signed(header: longHeader))
    }
  }

  @Test("signatures of wrong length or form")
  func refusesSignatures() throws {
    let good = try signed(header: #"{"alg":"ES256"}"#)
    let input = good.split(separator: ".").prefix(2).joined(separator: ".")
    let raw = try privateKey.signature(for: Array(input.utf8))
    #expect(throws: JOSEFailure.emptySignature) {
      try JWS(compact: input + ".").verified(with: key, allowing: [.es256])
    }
    let zeros = [UInt8](repeating: 0, count: 64)
    let wrongOnes: [[UInt8]] = [
      raw.derRepresentation, raw.rawRepresentation.dropLast(), raw.rawRepresentation + [0], zeros, [0],
      zeros + zeros,
    ]
    for wrong in wrongOnes {
      #expect(throws: JOSEFailure.invalidSignature) {
        try JWS(compact: "\(input).\(Base64URL.encode(wrong))").verified(with: key, allowing: [.es256])
      }
    }
    _ = try JWS(compact: good).verified(with: key, allowing: [.es256])
  }

  @Test("HMAC keys shorter than the hash are refused (RFC 7518 section 3.2)")
  func refusesShortSecrets() throws {
    for (algorithm, count) in [(SignatureAlgorithm.hs256, 32), (.hs384, 48), (.hs512, 64)] {
      let long = SecretBytes(copying: [UInt8](repeating: 1, count: count))
      let short = SecretBytes(copying: [UInt8](repeating: 1, count: count - 1))
      #expect(throws: JOSEFailure.weakKey) { try VerificationKey(hmac: short, algorithm) }
      #expect(throws: JOSEFailure.weakKey) { try SigningKey(hmac: short, algorithm) }
      let compact = try JWS.sign([1, 2], with: SigningKey(hmac: long, algorithm, keyID: "a"))
      let verified = try JWS(compact: compact).verified(
        with: VerificationKey(hmac: long, algorithm), allowing: [algorithm])
      #expect(verified.payload == [1, 2])
      #expect(verified.header.keyID == "a")
      #expect(verified.keyID == nil)
    }
    let secret = SecretBytes(copying: self.secret)
    #expect(throws: JOSEFailure.keyNotPermitted) { try VerificationKey(hmac: secret, .es256) }
    #expect(throws: JOSEFailure.keyNotPermitted) { try SigningKey(hmac: secret, .rs256) }
  }

  @Test("a prepared JWS accepts only a key of its algorithm and no duplicate parameter")
  func refusesWhenSigning() throws {
    let unsigned = try UnsignedJWS(payload: [], algorithm: .hs256)
    #expect(throws: JOSEFailure.keyNotPermitted) { try unsigned.signed(with: SigningKey(privateKey)) }
    #expect(throws: JOSEFailure.malformedHeader(.duplicateMember(offset: 0))) {
      try JWS.sign([], with: SigningKey(privateKey), parameters: ["alg": "none"])
    }
    #expect(throws: JOSEFailure.unencodedPayload) {
      try JWS.sign([], with: SigningKey(privateKey), parameters: ["b64": false])
    }
  }

  @Test("an externally made signature is inserted")
  func takesForeignSignature() throws {
    let unsigned = try UnsignedJWS(
      payload: [9], algorithm: .es256, keyID: "k", type: "JOSE", contentType: "x")
    let signature = try privateKey.signature(for: unsigned.signingInput)
    let compact = unsigned.signed(bearing: signature.rawRepresentation)
    let verified = try JWS(compact: compact).verified(with: key, allowing: [.es256])
    #expect(verified.header.parameters.text == #"{"alg":"ES256","kid":"k","typ":"JOSE","cty":"x"}"#)
  }

  @Test("keys of a set are chosen by kid, or if only one fits")
  func choosesKey() throws {
    let other = P256.Signing.PrivateKey()
    let one = try JWKSet([JWK(privateKey.publicKey, keyID: "a"), JWK(other.publicKey, keyID: "b")])
    let keys = VerificationKeySet(one)
    #expect(keys.algorithms == [.es256])
    let named = try JWS(compact: JWS.sign([1], with: SigningKey(privateKey, keyID: "a")))
    #expect(try named.verified(with: keys, allowing: [.es256]).keyID == "a")
    let unnamed = try JWS(compact: JWS.sign([1], with: SigningKey(privateKey)))
    #expect(throws: JOSEFailure.keyNotFound) { try unnamed.verified(with: keys, allowing: [.es256]) }
    let misnamed = try JWS(compact: JWS.sign([1], with: SigningKey(privateKey, keyID: "b")))
    #expect(throws: JOSEFailure.invalidSignature) { try misnamed.verified(with: keys, allowing: [.es256]) }
    let unknown = try JWS(compact: JWS.sign([1], with: SigningKey(privateKey, keyID: "c")))
    #expect(throws: JOSEFailure.keyNotFound) { try unknown.verified(with: keys, allowing: [.es256]) }
    let single = VerificationKeySet(try JWKSet([JWK(privateKey.publicKey, keyID: "a")]))
    #expect(try unnamed.verified(with: single, allowing: [.es256]).keyID == "a")
  }

  @Test("one prepared key serves 50 tasks at once")
  func servesManyTasks() async throws {
    let shared = SecretBytes(copying: secret)
    let keys = [key, try VerificationKey(hmac: shared)]
    let signers = [SigningKey(privateKey), try SigningKey(hmac: shared)]
    let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<50 {
        group.addTask {
          let payload = Array("\(number)".utf8)
          let jws = try JWS(compact: JWS.sign(payload, with: signers[number % 2]))
          let verified = try jws.verified(with: keys[number % 2], allowing: [.es256, .hs256])
          return verified.payload == payload ? 1 : 0
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(accepted == 50)
  }
}
