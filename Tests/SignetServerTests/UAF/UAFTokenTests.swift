import SignetCrypto
import SignetHTTP
import SignetJOSE
import SignetJSON
import SignetServer
import SignetStorage
import SignetTesting
import SignetTransport
import SignetUAF
import SignetWire
import Testing
import UAFFixture

/// Tokens, the devices that they are sent to, and how an operation stands.
@Suite struct UAFTokenTests {
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
    (#"{"dispatcher":"firebase-cloud-messaging"}"#, "dispatchTargetNotFound"),
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

  // MARK: Devices

  private func addDevice(
    _ server: UAFServer, _ signing: P256.Signing.PrivateKey, _ encryption: P256.KeyAgreement.PrivateKey,
    name: String = "Phone", user: String = "alice", status: Int = 201
  ) async throws -> JSONObject {
    try await server.json(
      "/token/dispatch/targets",
      [
        "username": .string(user), "deviceId": "d1", "name": .string(name), "dispatcher": "link",
        "target": "address", "signatureKey": .string(JSONValue.object(signing.publicKey.wireJWK).text),
        "encryptionKey": .string(
          try JSONValue.object(P256.Signing.PublicKey(x963: encryption.publicKey.x963Representation).wireJWK)
            .text),
      ], status: status)
  }

  private func jws(
    _ target: String, _ key: P256.Signing.PrivateKey, _ server: UAFServer, request: String = "r1",
    skew: Int64 = 0, _ more: JSONObject = [:]
  ) throws -> String {
    var claims = more
    claims["dispatchTargetId"] = .string(target)
    claims["requestId"] = .string(request)
    claims["creationTimeInEpochMillis"] = .integer((server.clock.now + skew) * 1_000)
    return try JWS.sign(claims.bytes, with: SigningKey(key))
  }

  @Test func aDeviceSeesWhatWaitsForIt() async throws {
    let server = try await UAFServer(UAFTestKey())
    let (signing, encryption) = (P256.Signing.PrivateKey(), P256.KeyAgreement.PrivateKey())
    let target = try await addDevice(server, signing, encryption).string("id")
    let sent = try await server.json(
      "/token/dispatch/registration",
      ["dispatchTargetId": .string(target), "getUafRequest": .object(Self.order)])
    let response = try await server.send(
      .get, "/devices/oob-operations/d1", [], [("Device-Signature", try jws(target, signing, server))])
    #expect(response.status == 200)
    let answer = try JWS(compact: String(decoding: response.body, as: UTF8.self))
    guard case .array(let list)? = try JSONObject(parsing: answer.unverifiedPayload)["operations"],
      case .object(let operation)? = list.first
    else {
      Issue.record("no operation")
      return
    }
    let payload = try operation.object("payload")
    #expect(try payload.string("nma_data_content_type") == "application/jose")
    let opened = try JWE(compact: payload.string("nma_data")).decrypted(
      with: DecryptionKey(encryption), allowing: [.ecdhES], [.a256GCM])
    #expect(try JSONObject(parsing: opened.plaintext).string("token") == sent.string("token"))
  }

  @Test func aDeviceChangesItselfAlone() async throws {
    let server = try await UAFServer(UAFTestKey())
    let (signing, encryption) = (P256.Signing.PrivateKey(), P256.KeyAgreement.PrivateKey())
    let target = try await addDevice(server, signing, encryption).string("id")
    let other = try await addDevice(server, P256.Signing.PrivateKey(), encryption, name: "Tablet").string(
      "id")
    func change(_ id: String, _ text: String) async throws -> Int {
      try await server.send(
        .patch, "/token/dispatch/targets/\(id)", Array(text.utf8), [("Content-Type", "application/jose")]
      ).status
    }
    let good = try jws(target, signing, server, ["name": "Mine"])
    #expect(try await change(target, good) == 204)
    #expect(try await change(target, good) == 401)  // a replay
    #expect(try await change(target, jws(target, signing, server, request: "r2", skew: 61)) == 401)
    #expect(try await change(target, jws(target, signing, server, request: "r2", skew: -61)) == 401)
    #expect(try await change(target, jws(target, P256.Signing.PrivateKey(), server, request: "r3")) == 401)
    #expect(try await change(other, jws(target, signing, server, request: "r4")) == 401)
    #expect(try await change("none", jws("none", signing, server, request: "r5")) == 404)
    #expect(try await change(target, jws(target, signing, server, request: "r6", ["name": "Tablet"])) == 422)
    #expect(try await change(target, "no") == 400)
    #expect(try await server.storage.uafTarget(target)?.name == "Mine")
  }

  @Test func aDeviceHasAUserAndANameOfItsOwn() async throws {
    let server = try await UAFServer(UAFTestKey())
    let (signing, encryption) = (P256.Signing.PrivateKey(), P256.KeyAgreement.PrivateKey())
    _ = try await addDevice(server, signing, encryption)
    _ = try await addDevice(server, signing, encryption, status: 422)
    _ = try await addDevice(server, signing, encryption, user: "nobody", status: 403)
  }
}
