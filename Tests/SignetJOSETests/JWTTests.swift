import SignetCrypto
import SignetJOSE
import SignetJSON
import Testing

@Suite(.timeLimit(.minutes(10))) struct JWTTests {
  private let key = P256.Signing.PrivateKey()
  private let now: Int64 = 1_700_000_000

  private func check(
    _ payload: String, type: String? = nil, _ validation: JWTValidation, at time: Int64? = nil
  ) throws -> JWTClaims {
    let compact = try JWS.sign(Array(payload.utf8), with: SigningKey(key), type: type)
    let verified = try JWS(compact: compact).verified(
      with: VerificationKey(key.publicKey), allowing: [.es256])
    return try verified.claims(validation, now: time ?? now)
  }

  @Test("RFC 7519 section 3.1: the example")
  func readsTheStandardsExample() throws {
    let vector = try #require(try Vector.load("jws").first { $0.id == "RFC 7515 A.1 HS256" })
    let jws = try JWS(compact: vector.members.string("jws")).verified(
      with: VerificationKey(JWK(vector.members.object("key"))), allowing: [.hs256])
    let claims = try jws.claims(JWTValidation(issuer: "joe", type: "JWT"), now: 1_300_819_379)
    #expect(claims.issuer == "joe")
    #expect(claims.expiresAt == 1_300_819_380)
    #expect(claims.all["http://example.com/is_root"] == true)
    #expect(throws: JOSEFailure.expired) {
      try jws.claims(JWTValidation(leewaySeconds: 0), now: 1_300_819_380)
    }
  }

  @Test("all registered claims")
  func readsClaims() throws {
    let claims = try check(
      #"{"iss":"i","sub":"s","aud":["a","b"],"exp":1700000060.5,"nbf":1700000000,"iat":1699999990,"jti":"j"}"#,
      type: "at+jwt",
      JWTValidation(
        issuer: "i", subject: "s", audiences: ["b"], type: "application/AT+JWT", maximumAgeSeconds: 10,
        leewaySeconds: 0))
    #expect(claims.subject == "s" && claims.audiences == ["a", "b"] && claims.tokenID == "j")
    #expect(claims.expiresAt == 1_700_000_060.5 && claims.notBefore == 1_700_000_000)
    #expect(claims.issuedAt == 1_699_999_990)
  }

  @Test(
    "times, to the second",
    arguments: [
      (#"{"exp":1700000001}"#, 0, nil), (#"{"exp":1700000000}"#, 0, .expired),
      (#"{"exp":1699999971}"#, 30, nil), (#"{"exp":1699999970}"#, 30, .expired),
      (#"{"exp":-9223372036854775808}"#, 30, .expired), (#"{"exp":1e300}"#, 30, nil),
      (#"{"exp":9223372036854775807}"#, 30, nil), (#"{"exp":2e9,"nbf":1700000000}"#, 0, nil),
      (#"{"exp":2e9,"nbf":1700000001}"#, 0, .notYetValid), (#"{"exp":2e9,"nbf":1700000030}"#, 30, nil),
      (#"{"exp":2e9,"nbf":1700000031}"#, 30, .notYetValid), (#"{"exp":2e9,"iat":1700000030}"#, 30, nil),
      (#"{"exp":2e9,"iat":1700000031}"#, 30, .issuedInFuture),
    ] as [(String, Int64, JOSEFailure?)])
  func times(_ payload: String, _ leeway: Int64, _ failure: JOSEFailure?) throws {
    let validation = JWTValidation(leewaySeconds: leeway)
    if let failure {
      #expect(throws: failure) { try check(payload, validation) }
    } else {
      _ = try check(payload, validation)
    }
  }

  @Test(
    "claims that are refused",
    arguments: [
      ("[]", .malformedClaims(.notAnObject)), ("", .malformedClaims(.unexpectedEnd(offset: 0))),
      (#"{"exp":2e9,"exp":2e9}"#, .malformedClaims(.duplicateMember(offset: 11))),
      (#"{}"#, .malformedClaims(.missingMember("exp"))),
      (#"{"exp":"2000000000"}"#, .malformedClaims(.wrongType(member: "exp", expected: .number))),
      (#"{"exp":null}"#, .malformedClaims(.wrongType(member: "exp", expected: .number))),
      (#"{"exp":2e9,"nbf":true}"#, .malformedClaims(.wrongType(member: "nbf", expected: .number))),
      (#"{"exp":2e9,"iat":"x"}"#, .malformedClaims(.wrongType(member: "iat", expected: .number))),
      (#"{"exp":2e9,"jti":1}"#, .malformedClaims(.wrongType(member: "jti", expected: .string))),
      (
        #"{"exp":2e9,"iat":1700000000,"aud":1}"#,
        .malformedClaims(.wrongType(member: "aud", expected: .array))
      ),
      (#"{"exp":2e9,"aud":["b",1]}"#, .malformedClaims(.wrongType(member: "aud", expected: .strings))),
      (#"{"exp":2e9}"#, .malformedClaims(.missingMember("iat"))), (#"{"exp":2e9,"iat":1699999939}"#, .tooOld),
      (#"{"exp":2e9,"iat":1700000000}"#, .wrongIssuer),
      (#"{"exp":2e9,"iat":1700000000,"iss":"I"}"#, .wrongIssuer),
      (#"{"exp":2e9,"iat":1700000000,"iss":"i"}"#, .wrongSubject),
      (#"{"exp":2e9,"iat":1700000000,"iss":"i","sub":"s"}"#, .wrongAudience),
      (#"{"exp":2e9,"iat":1700000000,"iss":"i","sub":"s","aud":[]}"#, .wrongAudience),
      (#"{"exp":2e9,"iat":1700000000,"iss":"i","sub":"s","aud":"B"}"#, .wrongAudience),
    ] as [(String, JOSEFailure)])
  func refuses(_ payload: String, _ failure: JOSEFailure) {
    let validation = JWTValidation(
      issuer: "i", subject: "s", audiences: ["b"], maximumAgeSeconds: 60, leewaySeconds: 0)
    #expect(throws: failure) { try check(payload, validation) }
  }

  @Test("a token with an audience is refused by a verifier without a name")
  func refusesForeignAudience() throws {
    #expect(throws: JOSEFailure.wrongAudience) { try check(#"{"exp":2e9,"aud":"b"}"#, JWTValidation()) }
    _ = try check(#"{"aud":"b"}"#, JWTValidation(audiences: ["b"], requiresExpiry: false))
  }

  @Test(
    "types are media types",
    arguments: [
      ("JWT", "jwt", true), ("application/jwt", "JWT", true), ("JWT", "application/jwt", true),
      ("application/a/b", "a/b", false), ("at+jwt", "JWT", false), (nil, "JWT", false), ("JWT", nil, true),
    ] as [(String?, String?, Bool)])
  func types(_ type: String?, _ wanted: String?, _ fits: Bool) throws {
    let validation = JWTValidation(type: wanted)
    if fits {
      _ = try check(#"{"exp":2e9}"#, type: type, validation)
    } else {
      #expect(throws: JOSEFailure.wrongType) { try check(#"{"exp":2e9}"#, type: type, validation) }
    }
  }

  @Test("a negative leeway is a programmer's error")
  func refusesNegativeLeeway() async {
    await #expect(processExitsWith: .failure) { _ = JWTValidation(leewaySeconds: -1) }
  }
}
