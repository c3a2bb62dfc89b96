import PostgreSQLFixture
import SignetCrypto
import SignetHTTPClient
import SignetHTTPServer
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetServer
import SignetStorage
import SignetTesting
import SignetUAF
import Testing
import UAFFixture

/// Tokens, the devices that they are sent to, and the state of an operation.
@Suite(.timeLimit(.minutes(10))) struct UAFTokenTests {
  private static let order: JSONObject = ["op": "Reg", "context": #"{"username":"alice"}"#]

  @Test func redeemsATokenOnce() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    let made = try await server.json("/token/create/registration", Self.order)
    let (token, session) = (try made.string("token"), try made.string("sessionId"))
    #expect(try await status(session, server) == "tokenCreated")
    let wrong = try await server.json("/token/redeem/authentication", ["token": .string(token)])
    #expect(try wrong.integer("statusCode") == 1404)
    let redeemed = try await server.json(
      "/token/redeem/registration", ["token": .string(token)], isOrdered: false)
    #expect(try redeemed.integer("statusCode") == 1200)
    #expect(try await status(session, server) == "clientRegistering")
    let again = try await server.json("/token/redeem/registration", ["token": .string(token)])
    #expect(try again.integer("statusCode") == 1491)
    let request = try RegistrationRequest(
      parsing: Array(redeemed.string("uafRequest").utf8), versions: [.v1_1])
    let answer = try await server.uaf(
      "/uaf/1.1/registration", ["uafResponse": .string(try UAFServer.answer(request, key))])
    #expect(try answer.integer("statusCode") == 1200)
    #expect(try await status(session, server) == "succeeded")
  }

  private func status(_ session: String, _ server: UAFServer) async throws -> String {
    try await server.json("/status", ["sessionId": .string(session)], isOrdered: false).string("status")
  }

  @Test("tokens and push addresses are stored encrypted")
  func keepsNoToken() async throws {
    let server = try await UAFServer(UAFTestKey(), on: .sqlite)
    _ = try await UAFTestDevice(on: server, name: "Telling name")
    let made = try await server.json("/token/create/registration", Self.order)
    #expect(try !server.keeps(made.string("token")) && !server.keeps("address:1"))
    // The control of the search: the device's name is stored in plain text.
    #expect(try server.keeps("Telling name"))
  }

  @Test func aTokenHasItsTime() async throws {
    let server = try await UAFServer(UAFTestKey())
    let made = try await server.json("/token/create/registration", Self.order)
    server.clock.advance(by: 300)
    let late = try await server.json(
      "/token/redeem/registration", ["token": .string(try made.string("token"))])
    #expect(try late.integer("statusCode") == 1408)
    let report = try await server.json("/status", ["sessionId": .string(try made.string("sessionId"))])
    #expect(try report.string("status") == "failed")
    #expect(try report.object("tokenInformation").string("tokenResult") == "tokenTimedOut")
    #expect(try await status("none", server) == "unknown")
    server.clock.advance(by: -60)
    let again = try await server.json(
      "/token/redeem/registration", ["token": .string(try made.string("token"))])
    #expect(try again.integer("statusCode") == 1408, "a told end is final")
    #expect(try await status(made.string("sessionId"), server) == "failed")
  }

  @Test("an operation reported as ended accepts no response, even after the clock is set back")
  func anOperationHasItsTime() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    #expect(try await server.register(key).integer("statusCode") == 1200)
    let request = try await server.authenticationRequest()
    let session = String(try #require(request.header.serverData).prefix { $0 != "." })
    server.clock.advance(by: 600)
    #expect(try await status(session, server) == "failed")
    server.clock.advance(by: -600)
    #expect(try await status(session, server) == "failed")
    let late = try await server.uaf(
      "/uaf/1.1/authentication", ["uafResponse": .string(try UAFServer.answer(request, key))])
    #expect(try late.integer("statusCode") != 1200)
  }

  @Test func onlyARelyingPartyOrders() async throws {
    let server = try await UAFServer(UAFTestKey())
    for path in ["/token/create/registration", "/token/dispatch/registration"] {
      _ = try await server.json(path, Self.order, status: 401, isOrdered: false)
    }
  }

  @Test func sendsLinks() async throws {
    let server = try await UAFServer(UAFTestKey())
    let sent = try await server.json(
      "/token/dispatch/registration", ["dispatcher": "link", "getUafRequest": .object(Self.order)])
    #expect(try sent.string("dispatchResult") == "dispatched")
    let link = try sent.object("dispatcherInformation").string("response")
    let prefix = "https://link?dispatchTokenResponse="
    #expect(link.hasPrefix(prefix))
    let payload = try JSONObject(parsing: Base64URL.decode(String(link.dropFirst(prefix.count))))
    #expect(try payload.string("nma_data_content_type") == "application/json")
    #expect(try payload.object("nma_data").string("token") == sent.string("token"))
    #expect(
      try payload.object("nma_data").string("redeem_url")
        == "\(server.origin)/nevisfido/token/redeem/registration")
  }

  @Test(arguments: [
    (#"{"dispatcher":"pigeon"}"#, "dispatcherNotFound"), (#"{}"#, "dispatcherNotFound"),
    (#"{"dispatcher":"firebase-cloud-messaging"}"#, "dispatcherNotFound"),
    (#"{"dispatcher":"link","dispatchTargetId":"none"}"#, "dispatchTargetNotFound"),
    (#"{"dispatcher":"png-qr-code"}"#, "dispatched"), (#"{"dispatcher":"link-png-qr-code"}"#, "dispatched"),
  ])
  func saysHowSendingEnded(_ text: String, _ result: String) async throws {
    let server = try await UAFServer(UAFTestKey())
    var body = try JSONObject(parsing: Array(text.utf8))
    body["getUafRequest"] = .object(Self.order)
    let sent = try await server.json("/token/dispatch/registration", body)
    #expect(try sent.string("dispatchResult") == result)
  }
}
