import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetServer
import SignetServerTesting
import SignetStorage
import Testing

/// Signed authentication requests (CIBA section 7.1.1).
@Suite(.timeLimit(.minutes(10))) struct SignedRequestTests {
  private func outcome(
    _ fixture: OpenIDFixture, _ client: TestClient, _ request: String, _ further: [(String, String)] = []
  ) async throws -> String {
    try await fixture.authorize(
      client, client.proof(at: fixture.now) + [("request", request)] + further
    ).outcome
  }

  @Test("a signed request is accepted once, with the signed parameters")
  func takesOne() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.ping, .clientSecretBasic, ["requestAlgorithm": "ES256"])
    let text = try client.signed(
      client.request(at: fixture.now) {
        $0["binding_message"] = "A1"
        $0["requested_expiry"] = 77
        $0["sub"] = "no parameter"
      })
    #expect(try await outcome(fixture, client, text) == "200")
    let waiting = try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now)
    let asked = try #require(waiting.first)
    #expect(asked.content.contains("A1") && asked.expires == fixture.now + 77)
    #expect(try await outcome(fixture, client, text) == "400 invalid_request", "replayed")
    for type in [nil, "oauth-authz-req+jwt"] {
      let text = try client.signed(
        client.request(at: fixture.now) { $0["requested_expiry"] = "60" }, type: type)
      #expect(try await outcome(fixture, client, text) == "200")
    }
  }

  @Test("a signed request excludes other parameters, and is mandatory for a client that signs")
  func allOfItIsSigned() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.poll, .privateKeyJWT, ["requestAlgorithm": "ES256"])
    for name in BackchannelRequest.parameterNames {
      let text = try client.signed(client.request(at: fixture.now))
      #expect(
        try await outcome(fixture, client, text, [(name, "openid")]) == "400 invalid_request", "\(name)")
    }
    #expect(try await fixture.ask(client).outcome == "400 invalid_request")
    #expect(try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now).isEmpty)
  }

  /// Changes that make a request invalid.
  static let changes: [(String, @Sendable (inout JSONObject, Int64) -> Void, String)] = [
    ("another aud", { claims, _ in claims["aud"] = "https://else.example" }, "400 invalid_request"),
    (
      "an endpoint as aud", { claims, _ in claims["aud"] = "https://id.example.org/main/oidc/token" },
      "400 invalid_request"
    ),
    ("no aud", { claims, _ in claims["aud"] = nil }, "400 invalid_request"),
    ("another iss", { claims, _ in claims["iss"] = "x" }, "400 invalid_request"),
    ("no iss", { claims, _ in claims["iss"] = nil }, "400 invalid_request"),
    ("no exp", { claims, _ in claims["exp"] = nil }, "400 invalid_request"),
    ("expired", { claims, now in claims["exp"] = .integer(now - 30) }, "400 invalid_request"),
    ("too long", { claims, now in claims["exp"] = .integer(now + 3_631) }, "400 invalid_request"),
    ("no iat", { claims, _ in claims["iat"] = nil }, "400 invalid_request"),
    ("no nbf", { claims, _ in claims["nbf"] = nil }, "400 invalid_request"),
    ("not valid yet", { claims, now in claims["nbf"] = .integer(now + 31) }, "400 invalid_request"),
    ("no jti", { claims, _ in claims["jti"] = nil }, "400 invalid_request"),
    ("no scope", { claims, _ in claims["scope"] = nil }, "400 invalid_request"),
    ("a scope that is no text", { claims, _ in claims["scope"] = ["openid"] }, "400 invalid_request"),
    ("two hints", { claims, _ in claims["login_hint_token"] = "x" }, "400 invalid_request"),
    (
      "a message with a line feed", { claims, _ in claims["binding_message"] = "a\nb" },
      "400 invalid_binding_message"
    ),
    ("another's name", { claims, _ in claims["login_hint"] = "bob" }, "400 unknown_user_id"),
    ("a fraction", { claims, _ in claims["requested_expiry"] = 1.5 }, "400 invalid_request"),
    ("a negative number", { claims, _ in claims["requested_expiry"] = -1 }, "400 invalid_request"),
  ]

  @Test(arguments: changes.indices) func refuses(_ index: Int) async throws {
    let (name, change, expected) = Self.changes[index]
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.poll, .privateKeyJWT, ["requestAlgorithm": "ES256"])
    let text = try client.signed(client.request(at: fixture.now) { change(&$0, fixture.now) })
    #expect(try await outcome(fixture, client, text) == expected, "\(name)")
  }

  @Test func refusesOtherKeysAndAlgorithms() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.poll, .privateKeyJWT, ["requestAlgorithm": "ES256"])
    let claims = client.request(at: fixture.now)
    var foreign = client
    foreign.key = P256.Signing.PrivateKey()
    let none = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8))
    let payload = Base64URL.encode(claims.bytes)
    let hmac = try SigningKey(hmac: SecretBytes(copying: [UInt8](repeating: 7, count: 32)), keyID: "k1")
    let long = try client.signed(
      client.request(at: fixture.now) { $0["x"] = .string(String(repeating: "x", count: 13_000)) })
    let wrong = [
      try foreign.signed(claims), "\(none).\(payload).", try JWS.sign(claims.bytes, with: hmac), long, "x",
      try client.signed(claims, type: "at+jwt"),
      // A client's authentication assertion is no request.
      try #require(try client.proof(at: fixture.now).last).1,
    ]
    for text in wrong {
      #expect(try await outcome(fixture, client, text) == "400 invalid_request", "\(text.prefix(60))")
    }
  }

  @Test("a signed request is refused as a client assertion")
  func isNoAssertion() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.poll, .privateKeyJWT, ["requestAlgorithm": "ES256"])
    let text = try client.signed(client.request(at: fixture.now))
    let answer = try await fixture.token(client, TestClient.assertion(text) + [("client_id", client.id.text)])
    #expect(try answer.outcome == "401 invalid_client")
  }

  @Test("a client with an unknown algorithm is not treated as one that does not sign")
  func unknownAlgorithm() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.poll, .clientSecretBasic)
    var record = try #require(try await fixture.server.storage.client(client.id))
    (record.id, record.requestAlgorithm) = ("0011223344556677", "XX9")
    try await fixture.server.storage.addClient(record, audit: .sample())
    let damaged = TestClient(
      id: record.id, secret: client.secret, key: client.key, issuer: client.issuer)
    #expect(try await fixture.ask(damaged).outcome == "500 server_error")
  }
}
