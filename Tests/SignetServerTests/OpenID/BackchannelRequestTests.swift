import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Testing

/// Authentication requests (CIBA sections 7 and 13).
@Suite(.timeLimit(.minutes(10))) struct BackchannelRequestTests {
  @Test("a request becomes a transaction for the user, with the client's name and message")
  func becomesATransaction() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register()
    let answer = try await fixture.ask(
      client,
      [
        ("login_hint", "alice"), ("binding_message", "W4SCT – “é”"), ("requested_expiry", "120"),
        ("acr_values", " phr  urn:signet:acr:signed phr"), ("unknown", "x"),
      ])
    #expect(answer.status == 200)
    #expect(try answer.body.integer("expires_in") == 120 && answer.body.integer("interval") == 5)
    #expect(try answer.id.utf8.count == 43)
    let waiting = try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now)
    let content = try #require(waiting.first).content
    #expect(
      content
        == #"{"form":{"fields":[{"label":"Message","type":"text","value":"W4SCT – “é”"}],"template":"login"},"from":"Example Bank"}"#
    )
    // Neither the ID nor the client's credential is in the log or the audit log.
    let written = try await fixture.server.audit().joined() + fixture.server.capture.lines.joined()
    #expect(try !written.contains(answer.id))
  }

  @Test func aRequestWithoutAMessageAsksToSignIn() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.push)
    let answer = try await fixture.ask(client)
    #expect(answer.status == 200 && !answer.body.contains("interval"))
    #expect(try answer.body.integer("expires_in") == 300)
    let waiting = try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now)
    #expect(waiting.first?.content == #"{"from":"Example Bank","text":"Sign in"}"#)
  }

  /// Invalid requests, as replaced parameters, and the answers by section 13.
  static let refusals: [(String, [(String, String)], String)] = [
    ("no scope", [("login_hint", "alice")], "400 invalid_request"),
    ("an empty scope", [("scope", ""), ("login_hint", "alice")], "400 invalid_request"),
    ("another scope", [("scope", "profile openidx"), ("login_hint", "alice")], "400 invalid_scope"),
    ("a scope of other characters", [("scope", "openid \"x"), ("login_hint", "alice")], "400 invalid_scope"),
    ("no hint", [("scope", "openid")], "400 invalid_request"),
    (
      "two hints", [("scope", "openid"), ("login_hint", "alice"), ("id_token_hint", "x")],
      "400 invalid_request"
    ),
    ("a user who is none", [("scope", "openid"), ("login_hint", "bob")], "400 unknown_user_id"),
    ("a hint that is no name", [("scope", "openid"), ("login_hint", " alice")], "400 unknown_user_id"),
    ("a token that is none", [("scope", "openid"), ("login_hint_token", "x.y.z")], "400 invalid_request"),
    ("an ID token that is none", [("scope", "openid"), ("id_token_hint", "x.y.z")], "400 invalid_request"),
    (
      "a message with a hidden character",
      [("scope", "openid"), ("login_hint", "alice"), ("binding_message", "a\u{202E}b")],
      "400 invalid_binding_message"
    ),
    (
      "a message that is too long",
      [
        ("scope", "openid"), ("login_hint", "alice"), ("binding_message", String(repeating: "é", count: 129)),
      ],
      "400 invalid_binding_message"
    ),
    (
      "an expiry of nothing", [("scope", "openid"), ("login_hint", "alice"), ("requested_expiry", "0")],
      "400 invalid_request"
    ),
    (
      "an expiry that is no number",
      [("scope", "openid"), ("login_hint", "alice"), ("requested_expiry", "+5")], "400 invalid_request"
    ),
    (
      "an expiry beyond all numbers",
      [
        ("scope", "openid"), ("login_hint", "alice"), ("requested_expiry", String(repeating: "9", count: 40)),
      ], "400 invalid_request"
    ),
    (
      "a repeated parameter",
      [("scope", "openid"), ("login_hint", "alice"), ("login_hint", "alice")], "400 invalid_request"
    ),
    (
      "a signed request of a client that does not sign", [("request", "x.y.z")], "400 invalid_request"
    ),
    (
      "a name in acr_values that is not known",
      [("scope", "openid"), ("login_hint", "alice"), ("acr_values", "phr \"gold\\")], "400 invalid_request"
    ),
    (
      "a name in acr_values of other characters",
      [("scope", "openid"), ("login_hint", "alice"), ("acr_values", "zo\u{E9}")], "400 invalid_request"
    ),
    (
      "acr_values without an end",
      [("scope", "openid"), ("login_hint", "alice"), ("acr_values", String(repeating: "a", count: 1_025))],
      "400 invalid_request"
    ),
  ]

  @Test(arguments: refusals.indices) func refuses(_ index: Int) async throws {
    let (name, parameters, expected) = Self.refusals[index]
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register()
    let answer = try await fixture.authorize(client, client.proof(at: fixture.now) + parameters)
    #expect(try answer.outcome == expected, "\(name)")
    let detail = try answer.body.string("error_description")
    // RFC 6749 section 5.2
    #expect(detail.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
    #expect(try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now).isEmpty)
  }

  @Test(
    "a notified client must register a notification token in bearer token form",
    arguments: [nil, "", "=", "a b", "a\u{E9}", String(repeating: "a", count: 1_025)])
  func needsANotificationToken(_ token: String?) async throws {
    let fixture = try await OpenIDFixture()
    for delivery in [ClientRecord.Delivery.ping, .push] {
      let client = try await fixture.register(delivery)
      var parameters = try client.proof(at: fixture.now) + [("scope", "openid"), ("login_hint", "alice")]
      if let token { parameters.append(("client_notification_token", token)) }
      #expect(try await fixture.authorize(client, parameters).outcome == "400 invalid_request")
    }
  }

  @Test("a missing or malformed form is refused before any lookup")
  func refusesBrokenForms() async throws {
    let fixture = try await OpenIDFixture()
    let bodies = [
      "scope=%", "scope=%G0", "scope=\u{0}", "a\u{301}=1", String(repeating: "a", count: 65) + "=1", "=x",
      (0..<65).map { "p\($0)=1" }.joined(separator: "&"), "scope=%ff",
    ]
    for body in bodies {
      #expect(throws: OpenIDFailure.self) { try FormParameters(Array(body.utf8)) }
    }
    #expect(throws: OpenIDFailure.self) { try FormParameters([0x61, 0x3D, 0xFF]) }
    let form = try FormParameters(Array("a=%C3%A9+b&c=&d".utf8))
    #expect(form["a"] == "é b" && form["c"] == nil && form["d"] == nil && form["e"] == nil)
    func outcome(_ type: String?) async throws -> String {
      var headers: HeaderFields = [:]
      headers["Content-Type"] = type
      let request = ServerRequest(
        method: "POST", path: try RequestPath(raw: "/main"), headers: headers, body: Array("scope=x".utf8))
      return try await OpenIDAnswer(fixture.answer("authenticate", request)).outcome
    }
    for type in [nil, "application/json", "text/plain; application/x-www-form-urlencoded"] {
      #expect(try await outcome(type) == "400 invalid_request")
    }
    for type in ["application/x-www-form-urlencoded", "Application/X-WWW-Form-Urlencoded ; charset=UTF-8"] {
      #expect(try await outcome(type) == "401 invalid_client")
    }
  }

  @Test func aUserWhoIsAskedTooOftenIsLeftAlone() async throws {
    // One client may use half of the limit.
    let fixture = try await OpenIDFixture { $0.challengeLimits.pending = 4 }
    let client = try await fixture.register()
    for _ in 0..<2 { #expect(try await fixture.ask(client).status == 200) }
    let refused = try await fixture.ask(client)
    #expect(try refused.outcome == "403 access_denied")
    #expect(refused.headers["Retry-After"] == "300")
    let other = try await fixture.register()
    for _ in 0..<2 { #expect(try await fixture.ask(other).status == 200) }
    #expect(try await fixture.ask(other).outcome == "403 access_denied")
  }

  @Test("a user code is required if the user has one, and wrong ones are counted")
  func needsTheUsersCode() async throws {
    let fixture = try await OpenIDFixture { $0.codeAttempts = 3 }
    let client = try await fixture.register()
    let users = fixture.server.users
    #expect(try await fixture.ask(client, [("login_hint", "alice"), ("user_code", "1")]).status == 200)
    let code = try await users.setCode(of: UserID("alice"), by: .local)
    #expect(code.utf8.count == 8)
    func ask(_ given: String?) async throws -> String {
      try await fixture.ask(client, [("login_hint", "alice")] + (given.map { [("user_code", $0)] } ?? []))
        .outcome
    }
    #expect(try await ask(nil) == "400 missing_user_code")
    #expect(try await ask("0") == "400 invalid_user_code")
    #expect(try await ask(code) == "200")
    for _ in 0..<3 { #expect(try await ask("\(code)0") == "400 invalid_user_code") }
    #expect(try await ask(code) == "400 invalid_user_code")
    // Wrong codes by one client do not block another client.
    let other = try await fixture.register()
    let answer = try await fixture.ask(other, [("login_hint", "alice"), ("user_code", code)])
    #expect(answer.status == 200)
    let refusals = try await fixture.server.audit().filter { $0.contains("userCode.refused") }
    let subject = try #require(try await fixture.server.storage.user("alice")).subject
    #expect(
      refusals.count == 5 && refusals.allSatisfy { $0.contains(client.id.text) && $0.contains(subject) })
    #expect(!refusals.contains { $0.contains("\"alice\"") || $0.contains(":alice") })
    try await fixture.server.codes.unlock(UserID("alice"), by: .local)
    #expect(try await ask(code) == "200")
    try await users.removeCode(of: UserID("alice"), by: .local)
    #expect(try await ask(nil) == "200")
    #expect(try await problem { try await users.setCode(of: UserID("bob"), by: .local) } == .unknown)
    #expect(try await !fixture.server.audit().joined().contains(code))
  }

  @Test("a client that sends wrong user codes waits longer each time, and learns how long")
  func waitsWithTheUsersCode() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register()
    let code = try await fixture.server.users.setCode(of: UserID("alice"), by: .local)
    func ask(_ given: String) async throws -> OpenIDAnswer {
      try await fixture.ask(client, [("login_hint", "alice"), ("user_code", given)])
    }
    for _ in 0..<4 { #expect(try await ask("0").headers["Retry-After"] == nil) }
    let early = try await ask(code)
    #expect(try early.outcome == "400 invalid_user_code" && early.headers["Retry-After"] == "30")
    fixture.server.clock.advance(by: 30)
    #expect(try await ask("0").headers["Retry-After"] == nil)
    fixture.server.clock.advance(by: 59)
    #expect(try await ask(code).headers["Retry-After"] == "1")
    fixture.server.clock.advance(by: 1)
    #expect(try await ask(code).status == 200)
    #expect(try await ask("0").headers["Retry-After"] == nil, "the row has ended")
    #expect(try await ask(code).status == 200)
  }

  @Test("the client gets the number to show, and the user must type it")
  func matchesNumbers() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.poll, .privateKeyJWT, ["numberDigits": 4])
    let answer = try await fixture.ask(client)
    #expect(try answer.body.string("signet_number").utf8.count == 4)
    #expect(try await problem { try await fixture.decide(.accepted) } == .transactionWrongNumber)
    #expect(try await fixture.poll(client, answer.id).outcome == "400 authorization_pending")
  }

  @Test("a hint token that the client signed names the user by a subject identifier")
  func readsHintTokens() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register()
    let stranger = try await fixture.register()
    func ask(
      _ subject: JSONObject, by signer: TestClient? = nil, exp: Int64 = 60, aud: String? = nil
    ) async throws -> String {
      let claims: JSONObject = [
        "iss": .string(client.id.text), "aud": .string(aud ?? fixture.issuer),
        "exp": .integer(fixture.now + exp), "sub_id": .object(subject),
      ]
      let token = try (signer ?? client).signed(claims)
      return try await fixture.ask(client, [("login_hint_token", token)]).outcome
    }
    let alice: JSONObject = ["format": "opaque", "id": "alice"]
    let subject = try #require(try await fixture.server.storage.user("alice")).subject
    #expect(try await ask(alice) == "200")
    #expect(
      try await ask(["format": "iss_sub", "iss": .string(fixture.issuer), "sub": .string(subject)]) == "200")
    #expect(
      try await ask(["format": "iss_sub", "iss": "https://else.example", "sub": .string(subject)])
        == "400 invalid_request")
    // A user name is no subject, since another user may have it later.
    #expect(
      try await ask(["format": "iss_sub", "iss": .string(fixture.issuer), "sub": "alice"])
        == "400 unknown_user_id")
    #expect(try await ask(["format": "email", "email": "alice"]) == "400 invalid_request")
    #expect(try await ask([:]) == "400 invalid_request")
    #expect(try await ask(["format": "opaque", "id": "nobody"]) == "400 unknown_user_id")
    #expect(try await ask(alice, exp: -31) == "400 expired_login_hint_token")
    #expect(try await ask(alice, exp: 7_200) == "400 invalid_request")
    #expect(try await ask(alice, aud: "https://else.example") == "400 invalid_request")
    #expect(try await ask(alice, by: stranger) == "400 invalid_request")
  }

  @Test("an expired ID token identifies its user to its own client; other tokens do not")
  func readsIDTokens() async throws {
    let fixture = try await OpenIDFixture()
    let (client, stranger) = (try await fixture.register(), try await fixture.register())
    let id = try await fixture.ask(client).id
    try await fixture.decide(.accepted)
    let tokens = try await fixture.poll(client, id).body
    let idToken = try tokens.string("id_token")
    func ask(_ token: String, by client: TestClient) async throws -> String {
      try await fixture.ask(client, [("id_token_hint", token)]).outcome
    }
    #expect(try await ask(idToken, by: client) == "200")
    fixture.server.clock.advance(by: 100_000)
    _ = try await SigningKeyService(fixture.server.context).rotate(by: .local)
    #expect(try await ask(idToken, by: client) == "200")
    #expect(try await ask(idToken, by: stranger) == "400 invalid_request")
    #expect(try await ask(tokens.string("access_token"), by: client) == "400 invalid_request")
    #expect(try await ask(String(idToken.dropLast(4)) + "AAAA", by: client) == "400 invalid_request")
    let forged = try client.signed(["iss": .string(fixture.issuer), "aud": .string(client.id.text)])
    #expect(try await ask(forged, by: client) == "400 invalid_request")
  }
}
