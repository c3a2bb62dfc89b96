import SignetCrypto
import SignetHTTPServer
import SignetJOSE
import SignetJSON
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Testing

/// Authentication of clients (OpenID Connect Core section 9), with its rejections.
@Suite(.timeLimit(.minutes(10))) struct ClientAuthenticationTests {
  /// The token endpoint's answers to a rejected client and to an authenticated one.
  private static let (refused, letIn) = ("401 invalid_client", "400 invalid_grant")

  private func outcome(
    _ fixture: OpenIDFixture, _ client: TestClient, _ proof: [(String, String)],
    _ authorization: String? = nil
  ) async throws -> String {
    let parameters = proof + [("grant_type", OpenIDFixture.grant), ("auth_req_id", "x")]
    return try await fixture.token(client, parameters, authorization: authorization).outcome
  }

  @Test("an assertion names the issuer or an endpoint as its audience, and is accepted once")
  func takesAssertions() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register()
    let (issuer, now) = (fixture.issuer, fixture.now)
    let audiences: [JSONValue] = [
      .string(issuer), .string("\(issuer)/oidc/token"), .string("\(issuer)/oidc/bc-authorize"),
      [.string(issuer)],
    ]
    for audience in audiences {
      let proof = try client.proof(at: now) { $0["aud"] = audience }
      #expect(try await outcome(fixture, client, proof) == Self.letIn)
      #expect(try await outcome(fixture, client, proof) == Self.refused, "replayed")
    }
    for type in [nil, "jwt", "client-authentication+jwt"] {
      #expect(try await outcome(fixture, client, client.proof(at: now, type: type)) == Self.letIn)
    }
    let named = try client.proof(at: now) + [("client_id", client.id.text)]
    #expect(try await outcome(fixture, client, named) == Self.letIn)
    // Clocks may differ by half a minute, and a token is valid for an hour at most.
    for (iat, exp) in [(now + 30, now + 3_630), (now - 4_000, now - 29)] {
      let proof = try client.proof(at: now) { ($0["iat"], $0["exp"]) = (.integer(iat), .integer(exp)) }
      #expect(try await outcome(fixture, client, proof) == Self.letIn)
    }
  }

  @Test("setting the clock back allows no replay of an assertion")
  func oneUseWhateverTheClock() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register()
    let now = fixture.now
    let proof = try client.proof(at: now)
    #expect(try await outcome(fixture, client, proof) == Self.letIn)
    fixture.server.clock.advance(by: 400)
    try await fixture.sweep()
    fixture.server.clock.set(now)
    #expect(try await outcome(fixture, client, proof) == Self.refused)
  }

  /// Changes that make an assertion invalid.
  static let changes: [(String, @Sendable (inout JSONObject, Int64) -> Void)] = [
    (
      "others beside",
      { claims, _ in claims["aud"] = ["https://else.example", "https://id.example.org/main"] }
    ),
    ("another aud", { claims, _ in claims["aud"] = "https://else.example" }),
    ("an aud that begins right", { claims, _ in claims["aud"] = "https://id.example.org/mainx" }),
    ("no aud", { claims, _ in claims["aud"] = nil }),
    ("an aud that is no text", { claims, _ in claims["aud"] = 1 }),
    ("another iss", { claims, _ in claims["iss"] = "x" }),
    ("no iss", { claims, _ in claims["iss"] = nil }),
    ("another sub", { claims, _ in claims["sub"] = "x" }),
    ("no sub", { claims, _ in claims["sub"] = nil }),
    ("no jti", { claims, _ in claims["jti"] = nil }),
    ("an empty jti", { claims, _ in claims["jti"] = "" }),
    ("a long jti", { claims, _ in claims["jti"] = .string(String(repeating: "j", count: 257)) }),
    ("no exp", { claims, _ in claims["exp"] = nil }),
    ("expired", { claims, now in claims["exp"] = .integer(now - 30) }),
    ("an exp that is far away", { claims, now in claims["exp"] = .integer(now + 3_631) }),
    ("an exp beyond all", { claims, _ in claims["exp"] = .number(1e300) }),
    ("an exp that is a text", { claims, now in claims["exp"] = .string("\(now + 60)") }),
    ("issued later", { claims, now in claims["iat"] = .integer(now + 31) }),
    ("not valid yet", { claims, now in claims["nbf"] = .integer(now + 31) }),
  ]

  @Test(arguments: changes.indices) func refusesAChangedAssertion(_ index: Int) async throws {
    let (name, change) = Self.changes[index]
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register()
    let proof = try client.proof(at: fixture.now) { change(&$0, fixture.now) }
    #expect(try await outcome(fixture, client, proof) == Self.refused, "\(name)")
  }

  @Test func refusesOtherKeysAndAlgorithms() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register()
    var foreign = client
    foreign.key = P256.Signing.PrivateKey()
    #expect(try await outcome(fixture, client, foreign.proof(at: fixture.now)) == Self.refused)
    let text = try #require(try client.proof(at: fixture.now).last).1
    let parts = text.split(separator: ".").map(String.init)
    let none = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8))
    var wrong = ["\(none).\(parts[1]).", "\(none).\(parts[1]).\(parts[2])", "", "a.b", text + "."]
    // HMAC with the public key, which an attacker knows.
    let jwk = try JWK(client.key.publicKey, keyID: "k1").publicObject().bytes
    let claims = try Base64URL.decode(parts[1])
    let hmac = try SigningKey(hmac: SecretBytes(copying: jwk), keyID: "k1")
    wrong.append(try JWS.sign(claims, with: hmac))
    // Another type of token, and one that is too long.
    wrong.append(try client.signed(JSONObject(parsing: claims), type: "at+jwt"))
    wrong.append(
      try client.proof(at: fixture.now) { $0["x"] = .string(String(repeating: "x", count: 13_000)) }[1].1)
    for assertion in wrong {
      let answer = try await outcome(fixture, client, TestClient.assertion(assertion))
      #expect(answer == Self.refused, "\(assertion.prefix(80))")
    }
    let good = try client.proof(at: fixture.now)
    #expect(try await outcome(fixture, client, [good[1]]) == Self.refused, "no type")
    #expect(try await outcome(fixture, client, [good[0]]) == Self.refused, "no assertion")
    #expect(
      try await outcome(fixture, client, [("client_assertion_type", "urn:x"), good[1]]) == Self.refused)
    #expect(try await outcome(fixture, client, good + [("client_id", "x")]) == Self.refused)
    #expect(try await outcome(fixture, client, []) == Self.refused)
  }

  @Test("one of 50 concurrent uses of an assertion is accepted")
  func oneUse() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register()
    let proof = try client.proof(at: fixture.now)
    let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<50 { group.addTask { try await outcome(fixture, client, proof) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.count { $0 == Self.letIn } == 1)
    #expect(outcomes.count { $0 == Self.refused } == 49)
  }

  @Test func takesSecrets() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.poll, .clientSecretBasic)
    let other = try await fixture.register(.poll, .clientSecretBasic)
    let secret = try #require(client.secret)
    #expect(try Base64URL.decode(secret).count == 32)
    let refused = try await fixture.token(client, [("client_id", "x")])
    #expect(try refused.outcome == Self.refused)
    #expect(refused.headers["WWW-Authenticate"]?.hasPrefix("Basic ") == true)
    func basic(_ text: String) -> String { "Basic " + Base64.encode(Array(text.utf8)) }
    #expect(try await outcome(fixture, client, []) == Self.letIn)
    #expect(try await outcome(fixture, client, [], basic("\(client.id):\(secret)")) == Self.letIn)
    let encoded = client.id.text.utf8.map { "%" + Hex.encode([$0]) }.joined()
    #expect(try await outcome(fixture, client, [], basic("\(encoded):\(secret)")) == Self.letIn)
    let wrong = [
      basic("\(client.id):\(secret)x"), basic("\(client.id):"), basic(":\(secret)"), basic("\(client.id)"),
      basic("\(other.id):\(secret)"), basic("x:\(secret)"), basic("\(client.id):\(secret)&a"),
      basic("\(client.id):%"), "Basic ", "Basic *", "Bearer \(secret)", "Basic \(secret)",
      "Basic " + String(repeating: "A", count: 2_000),
    ]
    for text in wrong {
      #expect(try await outcome(fixture, client, [], text) == Self.refused, "\(text.prefix(80))")
    }
    // A secret in the form is rejected, and so are two methods at once.
    let keyed = try await fixture.register()
    let form = [("client_id", client.id.text), ("client_secret", secret)]
    #expect(try await outcome(fixture, keyed, form) == Self.refused)
    #expect(try await outcome(fixture, client, form) == "400 invalid_request")
    let both = try keyed.proof(at: fixture.now)
    #expect(try await outcome(fixture, client, both) == "400 invalid_request")
  }

  @Test("each client has one authentication method, and a revoked one has none")
  func otherWaysAndTheRevoked() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.poll, .clientSecretBasic)
    // Its keys only sign requests and do not authenticate it.
    var keyed = TestClient(id: client.id, secret: nil, key: client.key, issuer: client.issuer)
    #expect(try await outcome(fixture, keyed, keyed.proof(at: fixture.now)) == Self.refused)
    keyed = try await fixture.register()
    for (client, id) in [(client, client.id), (keyed, keyed.id)] {
      #expect(try await outcome(fixture, client, client.proof(at: fixture.now)) == Self.letIn)
      try await ClientService(fixture.server.context).revoke(id, by: .local)
      #expect(try await outcome(fixture, client, client.proof(at: fixture.now)) == Self.refused)
      #expect(try await fixture.ask(client).outcome == Self.refused)
    }
    let lines = fixture.server.capture.lines.joined() + (try await fixture.server.audit().joined())
    #expect(try !lines.contains(#require(client.secret)))
  }
}
