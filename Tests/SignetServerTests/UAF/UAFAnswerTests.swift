import SignetCrypto
import SignetHTTPClient
import SignetHTTPServer
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetUAF
import Testing
import UAFFixture

/// Tokens that a client gets for a proof, their use, and further rules of the endpoints.
@Suite(.timeLimit(.minutes(10))) struct UAFAnswerTests {
  private static let context: JSONValue = #"{"username":"alice"}"#
  private static let type = [("Content-Type", "application/fido+uaf")]

  private func removal(_ server: UAFServer, _ headers: [(String, String)]) async throws -> Int64 {
    try await server.uaf(
      "/uaf/1.1/request/deregistration", ["op": "Dereg", "context": Self.context], headers
    ).integer("statusCode")
  }

  /// The value of the only token in an answer.
  private func token(_ answer: JSONObject, _ kind: String) throws -> String {
    #expect(try answer.integer("statusCode") == 1200)
    guard case .array(let tokens)? = answer["additionalTokens"], tokens.count == 1,
      case .object(let token) = tokens[0]
    else {
      Issue.record("no token: \(answer)")
      return ""
    }
    #expect(try token.string("type") == kind)
    return try token.string("value")
  }

  // MARK: Who a client is

  @Test(
    "a cookie is issued to servers only and authenticates its user",
    arguments: [UAFOperation.registration, .authentication])
  func givesCookies(_ operation: UAFOperation) async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key) { ($0.reply, $0.authorizationLifetime) = (.cookie, 300) }
    if operation == .authentication {
      try await server.register(key)
      key.signCounter = 2
    }
    let path = operation == .registration ? "registration" : "authentication"
    let asked = try await server.uaf(
      "/uaf/1.1/request/\(path)", ["op": .string(operation.rawValue), "context": Self.context],
      isOrdered: true)
    let text = try UAFAttempt(operation).answer(UAFAttempt.first(of: asked.string("uafRequest")), key)
    let body: JSONObject = ["uafResponse": .string(text)]
    let response = try await server.send(.post, "/uaf/1.1/\(path)", body.bytes, Self.type)
    let cookie = try token(try JSONObject(parsing: response.body), "HTTP_COOKIE")
    #expect(cookie.hasPrefix("__Host-signet-uaf="))
    #expect(
      response.header("Set-Cookie") == "\(cookie); Path=/; Max-Age=300; Secure; HttpOnly; SameSite=Strict")
    let setup = try #require(server.context.uaf)
    let known = UAFAuthorizations(server.context, APIKeyService(server.context), setup)
    func caller(_ cookies: [String]) async throws -> UAFCaller {
      var headers = HeaderFields()
      for text in cookies { headers.add(name: "Cookie", value: text) }
      return try await known.caller(
        of: ServerRequest(method: "POST", path: try RequestPath(raw: "/"), headers: headers, body: []))
    }
    for cookies in [[cookie], ["other=1; \(cookie)"], ["other=1", cookie]] {
      let found = try await caller(cookies)
      guard case .user("alice", _, lockedDevices: []) = found else {
        Issue.record("\(cookies) is \(found)")
        continue
      }
    }
    for other in ["other=1", "signet-uaf=\(cookie)", "__Host-signet-uaf="] {
      guard case .anyone = try await caller([other]) else {
        Issue.record("\(other) is somebody")
        continue
      }
    }
    #expect(try await problem { try await caller(["\(cookie)x"]) } == .unauthorized)
  }

  @Test("a refused response gets no cookie") func givesNoCookies() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key) { $0.reply = .cookie }
    var attempt = UAFAttempt(.registration)
    attempt.parts = { $0[1].content[$0[1].content.count - 1] ^= 1 }
    let asked = try await server.uaf(
      "/uaf/1.1/request/registration", ["op": "Reg", "context": Self.context], isOrdered: true)
    let body: JSONObject = [
      "uafResponse": .string(try attempt.answer(UAFAttempt.first(of: asked.string("uafRequest")), key))
    ]
    let response = try await server.send(.post, "/uaf/1.1/registration", body.bytes, Self.type)
    #expect(try JSONObject(parsing: response.body).integer("statusCode") == 1496)
    #expect(response.header("Set-Cookie") == nil)
  }

  @Test("a JWT names the user, the authentication and its expiry") func givesJWTs() async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key)
    let registered = try token(try await server.register(key), "JWT")
    key.signCounter = 2
    let authenticated = try token(try await server.authenticate(key), "JWT")
    let own = try await SigningKeyService(server.context).currentPublicKey()
    for (text, type, operation) in [
      (registered, "uaf-registration+jwt", "Reg"), (authenticated, "JWT", "Auth"),
    ] {
      let jws = try JWS(compact: text)
      let claims = try jws.verified(with: VerificationKey(own), allowing: [.es256]).claims(
        JWTValidation(
          issuer: server.context.settings.serverURL.fullForm,
          audiences: ["\(server.origin)/nevisfido/uaf/1.1/facets"], type: type, leewaySeconds: 0),
        now: server.clock.now
      ).all
      #expect(try await claims.string("sub") == server.storage.user("alice")?.subject)
      #expect(try claims.string("signet_user") == "alice")
      #expect(try claims.string("signet_uaf") == operation)
      #expect(try claims.string("acr") == "urn:signet:acr:uaf")
      #expect(try claims.integer("exp") == server.clock.now + 300)
    }
    let bearer = [("Authorization", "Bearer \(authenticated)")]
    let other: JSONObject = ["op": "Dereg", "context": #"{"username":"bob"}"#]
    try await server.users.add(UserID("bob"), by: .local)
    #expect(
      try await server.uaf("/uaf/1.1/request/deregistration", other, bearer).integer("statusCode") == 1401)
    server.clock.advance(by: 300)
    #expect(try await removal(server, bearer) == 1401)
    server.clock.advance(by: -1)
    #expect(try await removal(server, bearer) == 1200)
  }

  @Test(
    "an unknown API key or token is refused",
    arguments: ["Bearer x", "Bearer a.b.c", "Basic eDp5", "x"])
  func refusesStrangers(_ authorization: String) async throws {
    let server = try await UAFServer(UAFTestKey())
    #expect(try await removal(server, [("Authorization", authorization)]) == 1401)
    let response = try await server.send(
      .post, "/token/create/registration", Array(#"{"op":"Reg"}"#.utf8),
      [("Content-Type", "application/json"), ("Authorization", authorization)])
    #expect(response.status == 401)
    #expect(response.header("WWW-Authenticate") == "Bearer")
  }

  @Test("a token of another server, or of another purpose, is refused") func refusesOtherTokens() async throws
  {
    var key = UAFTestKey()
    let (server, other) = (try await UAFServer(key), try await UAFServer(key))
    try await other.register(key)
    key.signCounter = 2
    let foreign = try token(try await other.authenticate(key), "JWT")
    #expect(try await removal(server, [("Authorization", "Bearer \(foreign)")]) == 1401)
    // Signed by the server itself, for another purpose.
    let own = try await SigningKeyService(server.context).current()
    let now = server.clock.now
    for (audience, isUAF) in [("\(server.origin)/nevisfido/uaf/1.1/facets", false), ("shop", true)] {
      var claims: JSONObject = [
        "iss": .string(server.context.settings.serverURL.fullForm), "aud": .string(audience), "sub": "alice",
        "iat": .integer(now), "exp": .integer(now + 60), "signet_user": "alice",
      ]
      if isUAF { claims["signet_uaf"] = "Auth" }
      let text = try JWS.sign(claims.bytes, with: SigningKey(own))
      #expect(try await removal(server, [("Authorization", "Bearer \(text)")]) == 1401)
    }
  }

  // MARK: Types and methods

  /// Each endpoint with a body, its content type and that of its answer.
  private static let endpoints: [(path: String, sent: String, answered: String?)] =
    UAFOperation.allCases.flatMap { operation -> [(path: String, sent: String, answered: String?)] in
      let name =
        ["Reg": "registration", "Auth": "authentication", "Dereg": "deregistration"][operation.rawValue] ?? ""
      let uaf = "application/fido+uaf"
      var list: [(path: String, sent: String, answered: String?)] = [
        ("/uaf/1.1/request/\(name)", uaf, uaf), ("/uaf/1.1/request/\(name)/", uaf, uaf),
        ("/token/redeem/\(name)", "application/json", uaf), ("/redeemToken/\(name)", "application/json", uaf),
        ("/token/create/\(name)", "application/json", nil), ("/token/\(name)", "application/json", nil),
        ("/token/dispatch/\(name)", "application/json", nil),
      ]
      if operation != .deregistration {
        list += [("/uaf/1.1/\(name)", uaf, uaf), ("/uaf/1.1/\(name)/", uaf, uaf)]
      }
      return list
    } + [
      ("/status", "application/json", nil), ("/token/dispatch/targets", "application/json", nil),
      ("/get", "application/json", nil), ("/respond", "application/json", nil),
    ]

  @Test("405, 415 and 406 on each endpoint") func keepsToItsTypes() async throws {
    let server = try await UAFServer(UAFTestKey())
    let body = Array("{}".utf8)
    for (path, sent, answered) in Self.endpoints {
      for method in [HTTPMethod.get, .put, .delete, .patch]
      where method != .get || path != "/token/dispatch/targets" {
        let other = try await server.send(method, path, method == .get ? [] : body, [("Content-Type", sent)])
        #expect(other.status == 405, "\(method) \(path)")
        #expect(other.header("Allow")?.contains("POST") == true, "\(method) \(path)")
      }
      for type in [
        "text/plain", "\(sent)x", "\(sent);charset=iso-8859-1",
        sent == "application/json" ? "application/fido+uaf" : "application/json",
      ] {
        #expect(
          try await server.send(.post, path, body, [("Content-Type", type)]).status == 415, "\(type) \(path)")
      }
      guard answered != nil else { continue }
      for accept in ["text/html", "application/fido+uafx", "application/fido+uaf;q=0", "image/*", ""] {
        let refused = try await server.send(
          .post, path, body, [("Content-Type", sent), ("Accept", accept)])
        #expect(refused.status == 406, "\(accept) \(path)")
      }
      for accept in ["*/*", "text/html, application/fido+uaf;q=0.5", "application/*"] {
        let taken = try await server.send(.post, path, body, [("Content-Type", sent), ("Accept", accept)])
        #expect(![406, 415].contains(taken.status), "\(accept) \(path)")
      }
    }
    #expect(try await server.send(.post, "/uaf/1.1/facets", body, Self.type).status == 405)
  }

  @Test(
    "malformed bodies are refused",
    arguments: ["", "[]", "x", "{\"op\":1}", "{\"op\":\"Reg\",\"op\":\"Reg\"}", "\u{FEFF}{}"])
  func refusesOtherBodies(_ body: String) async throws {
    let server = try await UAFServer(UAFTestKey())
    for (path, sent, answered) in Self.endpoints {
      let response = try await server.send(
        .post, path, Array(body.utf8), [("Content-Type", sent)], isOrdered: true)
      if sent == "application/fido+uaf" {
        #expect(response.status == 200, "\(path)")
        #expect(try JSONObject(parsing: response.body).integer("statusCode") == 1400, "\(path)")
      } else if path == "/get" {
        #expect(try JSONObject(parsing: response.body).optionalInteger("statusCode") ?? 1400 == 1400)
      } else {
        #expect(response.status == 400, "\(path) \(answered ?? "")")
        #expect(try response.refusal == "400 malformed")
      }
    }
  }

  // MARK: The conformance tool

  @Test func servesTheConformanceTool() async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key)
    func get(_ operation: String, _ context: String) async throws -> JSONObject {
      try await server.json(
        "/get", ["op": .string(operation), "context": .string(context)], isOrdered: false)
    }
    func respond(_ text: String) async throws -> Int64 {
      try await server.json("/respond", ["uafResponse": .string(text)], isOrdered: false)
        .integer("statusCode")
    }
    // The interface creates its users.
    let user = #"{"username":"conformance"}"#
    let registration = try await get("Reg", user)
    #expect(try registration.integer("statusCode") == 1200)
    #expect(try registration.string("op") == "Reg")
    #expect(try registration.integer("lifetimeMillis") == 120_000)
    let first = try UAFAttempt.first(of: registration.string("uafRequest"))
    #expect(try await respond(UAFAttempt(.registration).answer(first, key)) == 1200)
    key.signCounter = 2
    let confirmation = try await get("Auth", #"{"username":"conformance","transaction":"Pay 10"}"#)
    let second = try UAFAttempt.first(of: confirmation.string("uafRequest"))
    #expect(
      second["transaction"] == [
        ["contentType": "text/plain", "content": .string(Base64URL.encode(Array("Pay 10".utf8)))]
      ])
    #expect(try await respond(UAFAttempt(.authentication).answer(second, key)) == 1200)
    #expect(try await respond("[]") == 1400)
    let none = try await get("Dereg", #"{"username":"conformance","deregisterAAID":"7357#00ZZ"}"#)
    #expect(try none.integer("statusCode") == 1400)
    let other = try await get("Dereg", #"{"username":"conformance","deregisterAAID":"7357#0009"}"#)
    #expect(
      try UAFAttempt.first(of: other.string("uafRequest"))["authenticators"]
        == [["aaid": "7357#0009", "keyID": ""]])
    #expect(try await server.storage.uafCredentials(user: "conformance").count == 1)
    let all = try await get("Dereg", #"{"username":"conformance","deregisterAll":true}"#)
    #expect(
      try UAFAttempt.first(of: all.string("uafRequest"))["authenticators"] == [["aaid": "", "keyID": ""]])
    #expect(try await server.storage.uafCredentials(user: "conformance").isEmpty)
    #expect(try await get("Nothing", user).integer("statusCode") == 1400)
  }

  @Test("the conformance endpoints get 404 unless configured") func hasNoConformanceToolUnlessSetUp()
    async throws
  {
    let server = try await UAFServer(UAFTestKey()) { $0.hasConformanceAdapter = false }
    for path in ["/get", "/respond"] {
      #expect(try await server.send(.post, path, [], [("Content-Type", "application/json")]).status == 404)
    }
  }

  // MARK: Deregistration

  @Test("deregistration by key, by model, and of all keys")
  func removesKeys() async throws {
    let first = UAFTestKey(), second = UAFTestKey()
    let other = UAFTestKey(aaid: AAID(vendor: 0x7357, model: 2))
    let server = try await UAFServer([first, other])
    for key in [first, second, other] { try await server.register(key) }
    func remove(_ targets: String) async throws -> JSONObject {
      try await server.uaf(
        "/uaf/1.1/request/deregistration",
        ["op": "Dereg", "context": .string(#"{"username":"alice","authenticators":\#(targets)}"#)],
        isOrdered: true)
    }
    func left() async throws -> [[UInt8]] {
      try await server.storage.uafCredentials(user: "alice").map(\.keyID)
    }
    let byKey = try await remove(#"[{"aaid":"7357#0001","keyID":"\#(first.keyID.text)"}]"#)
    #expect(try await left() == [second.keyID.bytes, other.keyID.bytes])
    #expect(
      try UAFAttempt.first(of: byKey.string("uafRequest"))["authenticators"]
        == [["aaid": "7357#0001", "keyID": .string(first.keyID.text)]])
    // The answer does not reveal whether such a key exists.
    #expect(
      try await remove(#"[{"aaid":"7357#0001","keyID":"\#(first.keyID.text)"}]"#).integer("statusCode")
        == 1200)
    for bad in [
      #"[{"aaid":"7357-0001","keyID":""}]"#, #"[{"aaid":"","keyID":"\#(first.keyID.text)"}]"#, "[]", "[1]",
      #"[{"aaid":"7357#0001"}]"#, #"[{"aaid":"","keyID":""},{"aaid":"7357#0001","keyID":""}]"#,
      #"[{"aaid":"7357#0001","keyID":"AAAA"}]"#,
    ] {
      #expect(try await remove(bad).integer("statusCode") == 1400, "\(bad)")
    }
    // A device of several users gets the user's key IDs: a whole model would include other users' keys.
    let byModel = try await remove(#"[{"aaid":"7357#0001","keyID":""}]"#)
    #expect(
      try UAFAttempt.first(of: byModel.string("uafRequest"))["authenticators"]
        == [["aaid": "7357#0001", "keyID": .string(second.keyID.text)]])
    #expect(try await left() == [other.keyID.bytes])
    let all = try await remove(#"[{"aaid":"","keyID":""}]"#)
    #expect(
      try UAFAttempt.first(of: all.string("uafRequest"))["authenticators"]
        == [["aaid": "7357#0002", "keyID": .string(other.keyID.text)]])
    #expect(try await left().isEmpty)
    #expect(try await remove(#"[{"aaid":"","keyID":""}]"#).integer("statusCode") == 1404)
  }
}
