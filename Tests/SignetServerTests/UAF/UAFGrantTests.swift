import SignetCrypto
import SignetHTTPClient
import SignetHTTPServer
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetUAF
import Testing
import UAFFixture

/// The user's token after an operation: its contents, its uses and its lifetime.
@Suite(.timeLimit(.minutes(10))) struct UAFGrantTests {
  private static let removal: JSONObject = ["op": "Dereg", "context": #"{"username":"alice"}"#]

  private func token(_ answer: JSONObject) throws -> String {
    #expect(try answer.integer("statusCode") == 1200)
    guard case .array(let tokens)? = answer["additionalTokens"], case .object(let token)? = tokens.first
    else {
      throw JSONFailure.notAnObject
    }
    return try token.string("value")
  }

  private func claims(_ token: String) throws -> JSONObject {
    try JSONObject(parsing: JWS(compact: token).unverifiedPayload)
  }

  /// Requests a registration for alice with a token and returns the status.
  private func registration(_ server: UAFServer, by token: String) async throws -> Int64 {
    try await server.uaf(
      "/uaf/1.1/request/registration", ["op": "Reg", "context": #"{"username":"alice"}"#],
      [("Authorization", "Bearer \(token)")]
    ).integer("statusCode")
  }

  @Test("a token names its operation, policy and keys") func says() async throws {
    var key = UAFTestKey()
    let weak = Policy(accepted: [[MatchCriteria(aaids: [key.aaid])]])
    let server = try await UAFServer([key]) { $0.policies["weak"] = weak }
    let registered = try claims(token(await server.register(key)))
    #expect(try registered.string("signet_policy") == "default")
    key.signCounter = 2
    let request = try await server.authenticationRequest(#"{"username":"alice","policy":"weak"}"#)
    let answer = try await server.uaf(
      "/uaf/1.1/authentication", ["uafResponse": .string(try UAFServer.answer(request, key))])
    let said = try claims(token(answer))
    #expect(try said.string("signet_policy") == "weak")
    let session = try #require(request.header.serverData).prefix { $0 != "." }
    #expect(try said.string("signet_session") == String(session))
    #expect(
      said["signet_authenticators"] == [["aaid": .string(key.aaid.text), "keyId": .string(key.keyID.text)]])
    #expect(!said.contains("signet_confirmed"))
  }

  @Test("an authentication under a weaker policy cannot manage keys") func weakPolicy() async throws {
    var (strong, weak) = (UAFTestKey(), UAFTestKey(aaid: AAID(vendor: 0x7357, model: 2)))
    let (good, poor) = (strong.aaid, weak.aaid)
    let server = try await UAFServer([strong, weak]) {
      $0.policies = [
        "default": Policy(accepted: [[MatchCriteria(aaids: [good])]]),
        "look": Policy(accepted: [[MatchCriteria(aaids: [poor])], [MatchCriteria(aaids: [good])]]),
      ]
    }
    try await server.register(strong)
    let asked = try await server.registrationRequest(#"{"username":"alice","policy":"look"}"#)
    _ = try await server.uaf(
      "/uaf/1.1/registration", ["uafResponse": .string(try UAFServer.answer(asked, weak))])
    (strong.signCounter, weak.signCounter) = (2, 2)
    let look = #"{"username":"alice","policy":"look"}"#
    #expect(try await registration(server, by: token(await server.authenticate(weak, look))) == 1401)
    // A stronger key than the policy demands gives a token with all its uses.
    #expect(try await registration(server, by: token(await server.authenticate(strong, look))) == 1200)
    strong.signCounter = 3
    #expect(try await registration(server, by: token(await server.authenticate(strong))) == 1200)
  }

  @Test(
    "a confirmation identifies its user only for its own transaction",
    arguments: [
      #"{"username":"alice","transaction":"Pay 10 to Bob"}"#, #"{"transaction":"Pay 10 to Bob"}"#,
      #"{"username":"alice","transaction":[{"contentType":"text/plain","content":"UGF5"},{"contentType":"text/plain","content":"UGF6"}]}"#,
    ])
  func confirmation(_ context: String) async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.register(key)
    key.signCounter = 2
    let request = try await server.authenticationRequest(context, isOrdered: true)
    let answer = try await server.uaf(
      "/uaf/1.1/authentication", ["uafResponse": .string(try UAFServer.answer(request, key))])
    let token = try token(answer)
    // The token names the confirmed transaction, so that it cannot be presented for another.
    #expect(
      try claims(token)["signet_confirmed"] == [.string(Base64URL.encode(request.transactions[0].hash))])
    #expect(try await registration(server, by: token) == 1401)
  }

  @Test("a token becomes invalid with its key", arguments: ["removed", "copied"])
  func endsWithTheKey(_ how: String) async throws {
    var key = UAFTestKey()
    key.signCounter = 5
    let server = try await UAFServer(key)
    let first = try token(await server.register(key))
    key.signCounter = 6
    let second = try token(await server.authenticate(key))
    for token in [first, second] { #expect(try await registration(server, by: token) == 1200) }
    if how == "removed" {
      _ = try await server.uaf("/uaf/1.1/request/deregistration", Self.removal, isOrdered: true)
    } else {
      #expect(try await server.authenticate(key).integer("statusCode") == 1498)
    }
    for token in [first, second] { #expect(try await registration(server, by: token) == 1401) }
  }

  @Test("a dispatched operation is answered only by its user") func sentToADevice() async throws {
    var (own, other) = (UAFTestKey(), UAFTestKey())
    let server = try await UAFServer(own)
    try await server.users.add(UserID("bob"), by: .local)
    try await server.register(own)
    let asked = try await server.registrationRequest(#"{"username":"bob"}"#)
    _ = try await server.uaf(
      "/uaf/1.1/registration", ["uafResponse": .string(try UAFServer.answer(asked, other))])
    let device = try await UAFTestDevice(on: server)
    (own.signCounter, other.signCounter) = (2, 2)
    for (key, status) in [(other, 1481), (own, 1200)] as [(UAFTestKey, Int64)] {
      let sent = try await server.json(
        "/token/dispatch/authentication",
        [
          "dispatchTargetId": .string(device.target), "getUafRequest": ["op": "Auth", "context": "{}"],
        ])
      let redeemed = try await server.json(
        "/token/redeem/authentication", ["token": sent["token"] ?? ""], isOrdered: false)
      let request = try AuthenticationRequest(
        parsing: Array(redeemed.string("uafRequest").utf8), versions: [.v1_1])
      let answer = try await server.uaf(
        "/uaf/1.1/authentication", ["uafResponse": .string(try UAFServer.answer(request, key))])
      #expect(try answer.integer("statusCode") == status)
    }
  }
}
