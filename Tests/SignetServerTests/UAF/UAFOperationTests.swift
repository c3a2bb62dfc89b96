import SignetCrypto
import SignetHTTPClient
import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetUAF
import Testing
import UAFFixture

/// Registration, authentication and deregistration by UAF.
@Suite(.timeLimit(.minutes(10))) struct UAFOperationTests {
  @Test func registersAuthenticatesAndRemoves() async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key)
    #expect(try await server.register(key).integer("statusCode") == 1200)
    key.signCounter = 2
    let answer = try await server.authenticate(key)
    #expect(try answer.integer("statusCode") == 1200)
    guard case .array(let tokens)? = answer["additionalTokens"], case .object(let token)? = tokens.first
    else {
      Issue.record("no token")
      return
    }
    #expect(try token.string("type") == "JWT")
    let bearer = try token.string("value")
    let removal = try await server.uaf(
      "/uaf/1.1/request/deregistration", ["op": "Dereg", "context": #"{"username":"alice"}"#],
      [("Authorization", "Bearer \(bearer)")])
    #expect(try removal.integer("statusCode") == 1200)
    #expect(try await server.storage.uafCredentials(user: "alice").isEmpty)
    let after = try await server.uaf(
      "/uaf/1.1/request/authentication", ["op": "Auth", "context": #"{"username":"alice"}"#])
    #expect(try after.integer("statusCode") == 1404)
  }

  @Test func findsTheUserByTheKey() async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.register(key)
    key.signCounter = 2
    #expect(try await server.authenticate(key, "{}").integer("statusCode") == 1200)
    let stranger = UAFTestKey(aaid: key.aaid)
    #expect(try await server.authenticate(stranger, "{}").integer("statusCode") == 1481)
  }

  @Test func takesAResponseOnce() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    let request = try await server.registrationRequest()
    let body: JSONObject = ["uafResponse": .string(try UAFServer.answer(request, key))]
    #expect(try await server.uaf("/uaf/1.1/registration", body).integer("statusCode") == 1200)
    #expect(try await server.uaf("/uaf/1.1/registration", body).integer("statusCode") == 1491)
  }

  @Test func takesNoResponseAfterItsTime() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    let request = try await server.registrationRequest()
    server.clock.advance(by: 120)
    let body: JSONObject = ["uafResponse": .string(try UAFServer.answer(request, key))]
    #expect(try await server.uaf("/uaf/1.1/registration", body).integer("statusCode") == 1491)
  }

  @Test func disallowsWhatIsRegistered() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.register(key)
    let request = try await server.registrationRequest()
    #expect(request.policy.disallowed == [MatchCriteria(aaids: [key.aaid], keyIDs: [key.keyID])])
    let body: JSONObject = ["uafResponse": .string(try UAFServer.answer(request, key))]
    #expect(try await server.uaf("/uaf/1.1/registration", body).integer("statusCode") == 1492)
  }

  @Test func namesTheKeysOfTheUser() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.register(key)
    let request = try await server.authenticationRequest()
    #expect(request.policy.accepted == [[MatchCriteria(aaids: [key.aaid], keyIDs: [key.keyID])]])
    #expect(request.challenge.count == 32)
  }

  @Test func findsACopyByItsCounter() async throws {
    var key = UAFTestKey()
    key.signCounter = 5
    let server = try await UAFServer(key)
    try await server.register(key)
    #expect(try await server.authenticate(key).integer("statusCode") == 1498)
    #expect(try await server.storage.uafCredentials(user: "alice").map(\.state) == [.quarantined])
    key.signCounter = 6
    #expect(try await server.authenticate(key, "{}").integer("statusCode") == 1493)
    #expect(try await server.audit().contains { $0.contains("uaf.quarantined") })
  }

  /// Only the owner of a key can make the server detect a clone.
  @Test func forgedCountersPutNoKeyIntoQuarantine() async throws {
    var key = UAFTestKey()
    key.signCounter = 5
    let server = try await UAFServer(key)
    try await server.register(key)
    var forger = key
    forger.privateKey = P256.Signing.PrivateKey()
    forger.signCounter = 1
    #expect(try await server.authenticate(forger).integer("statusCode") == 1498)
    key.signCounter = 6
    #expect(try await server.authenticate(key).integer("statusCode") == 1200)
  }

  @Test(arguments: ["Reg", "Dereg"]) func isManagedByNoStranger(_ operation: String) async throws {
    let server = try await UAFServer(UAFTestKey())
    let path = operation == "Reg" ? "registration" : "deregistration"
    let answer = try await server.uaf(
      "/uaf/1.1/request/\(path)", ["op": .string(operation), "context": #"{"username":"alice"}"#])
    #expect(try answer.integer("statusCode") == 1401)
  }

  @Test(arguments: [
    (#"{"op":"Auth"}"#, 1400), (#"{"op":"Reg"}"#, 1400), (#"{"op":"Reg","context":"no"}"#, 1400),
    ("[]", 1400),
    (#"{"op":"Reg","context":"{\"username\":\"alice\",\"policy\":\"none\"}"}"#, 1404),
    (#"{"op":"Reg","context":"{\"username\":\"nobody\"}"}"#, 1404),
  ])
  func saysWhatIsWrongWithARequest(_ body: String, _ status: Int64) async throws {
    let server = try await UAFServer(UAFTestKey())
    let response = try await server.send(
      .post, "/uaf/1.1/request/registration", Array(body.utf8),
      [("Content-Type", "application/fido+uaf")], isOrdered: true)
    #expect(response.status == 200)
    #expect(try JSONObject(parsing: response.body).integer("statusCode") == status)
  }

  @Test func confirmsATransactionOfTheServer() async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.register(key)
    key.signCounter = 2
    let context = #"{"username":"alice","transaction":"Pay 10 to Bob"}"#
    let refused = try await server.uaf(
      "/uaf/1.1/request/authentication", ["op": "Auth", "context": .string(context)])
    #expect(try refused.integer("statusCode") == 1401)
    #expect(try await server.authenticate(key, context, isOrdered: true).integer("statusCode") == 1200)
    let event = try await server.audit().last { $0.contains("uaf.authenticated") }
    let id = try TransactionID(JSONObject(parsing: Array(#require(event).utf8)).string("transaction"))
    let transaction = try #require(try await server.storage.transaction(id))
    #expect(transaction.state == .accepted)
    #expect(transaction.uaf != nil)
  }

  @Test func publishesItsFacets() async throws {
    let server = try await UAFServer(UAFTestKey())
    let response = try await server.send(.get, "/uaf/1.1/facets")
    #expect(response.header("Content-Type") == "application/fido.trusted-apps+json")
    let list = try TrustedFacetList(parsing: response.body)
    #expect(list.facets.map(\.version) == [.v1_0, .v1_1])
    #expect(list.facets.map(\.ids) == [[UAFServer.facet], [UAFServer.facet]])
  }

  /// A request's method and media types, and the status of the response.
  struct Negotiation: Sendable {
    var method = HTTPMethod.post
    var type = "application/fido+uaf"
    var accept = "*/*"
    let status: Int
  }

  @Test(
    arguments: [
      Negotiation(method: .get, status: 405), Negotiation(type: "text/plain", status: 415),
      Negotiation(type: "application/fido+uaf;charset=latin1", status: 415),
      Negotiation(accept: "text/html", status: 406), Negotiation(status: 200),
      Negotiation(type: "application/fido+uaf; charset=\"UTF-8\"", accept: "application/*", status: 200),
    ])
  func asksForTheRightTypes(_ request: Negotiation) async throws {
    let server = try await UAFServer(UAFTestKey())
    let response = try await server.send(
      request.method, "/uaf/1.1/request/authentication", [],
      [("Content-Type", request.type), ("Accept", request.accept)])
    #expect(response.status == request.status)
  }
}
