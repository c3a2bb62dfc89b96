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

/// The traces of unauthenticated clients are bounded.
@Suite(.timeLimit(.minutes(10))) struct UAFUnauthenticatedTests {
  private func ask(_ server: UAFServer, isOrdered: Bool = false) async throws -> HTTPResponse {
    let body: JSONObject = ["op": "Auth", "context": #"{"username":"alice"}"#]
    return try await server.send(
      .post, "/uaf/1.1/request/authentication", body.bytes, [("Content-Type", "application/fido+uaf")],
      isOrdered: isOrdered)
  }

  @Test("open requests per address are limited") func boundsRequests() async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key) { $0.openRequests = 3 }
    try await server.register(key)
    // A validly answered request does not count.
    for counter in 2...6 as ClosedRange<UInt32> {
      key.signCounter = counter
      #expect(try await server.authenticate(key).integer("statusCode") == 1200)
    }
    for _ in 0..<3 { #expect(try await ask(server).status == 200) }
    let refused = try await ask(server)
    #expect(try refused.refusal == "429 tooManyRequests")
    #expect(refused.header("Retry-After") == "60")
    // Authenticated requests do not count with the others.
    #expect(try await ask(server, isOrdered: true).status == 200)
    server.clock.advance(by: 120)
    #expect(try await ask(server).status == 200)
  }

  @Test("invalid answers free no request, so the audit log's growth is limited") func boundsTheLog()
    async throws
  {
    let key = UAFTestKey()
    let server = try await UAFServer(key) { $0.openRequests = 3 }
    try await server.register(key)
    let before = try await server.audit().count
    for _ in 0..<3 {
      let request = try await server.authenticationRequest()
      let text = try UAFServer.answer(request, UAFTestKey(aaid: key.aaid))
      let answer = try await server.uaf("/uaf/1.1/authentication", ["uafResponse": .string(text)])
      #expect(try answer.integer("statusCode") == 1481)
    }
    #expect(try await ask(server).status == 429)
    #expect(try await server.audit().count == before + 3)
    // They are removed as early as the unanswered ones.
    server.clock.advance(by: 120 + 600)
    _ = try await server.storage.sweep(at: server.clock.now) { .sample("\($0)") }
    let left = try await server.storage.addUAFOperation(
      UAFOperationRecord(
        id: "s", operation: "Auth", created: 0, expires: server.clock.now, state: .requested),
      ofClientWithAtMost: 1)
    #expect(left)
  }

  @Test("unauthenticated requests store nothing permanently") func keepsNothing() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.register(key)
    let long = String(repeating: "x", count: 5_000)
    let request = try await server.authenticationRequest(#"{"username":"alice","more":"\#(long)"}"#)
    let session = try #require(request.header.serverData).prefix { $0 != "." }
    let kept = try #require(try await server.storage.uafOperation("\(session)"))
    #expect(kept.context == nil && kept.client?.count == 16)
  }

  @Test("devices per user are limited") func boundsDevices() async throws {
    let server = try await UAFServer(UAFTestKey())
    for number in 0..<64 { _ = try await UAFTestDevice(on: server, name: "Phone \(number)") }
    let first = try #require(try await server.storage.uafTargets(user: "alice").first)
    let body: JSONObject = [
      "username": "alice", "name": "One more",
      "signatureKey": .string(
        JSONValue.object(P256.Signing.PrivateKey().publicKey.wireJWK).text),
    ]
    let refused = try await server.json("/token/dispatch/targets", body, status: 422)
    #expect(try refused.string("code") == "targetsTooMany")
    #expect(
      try await server.send(.delete, "/token/dispatch/targets/\(first.id)", isOrdered: true).status == 204)
    _ = try await server.json("/token/dispatch/targets", body, status: 201)
  }

  @Test("keys per user are limited") func boundsKeys() async throws {
    let server = try await UAFServer(UAFTestKey())
    let event = AuditRecord.sample()
    func register(_ count: UInt8, from first: UInt8) async throws -> UAFOutcome {
      let id: ID<UAFOperationRecord> = "s\(first)"
      try await server.storage.addUAFOperation(
        UAFOperationRecord(
          id: id, operation: "Reg", user: "alice", created: 0, expires: .max, state: .requested), audit: nil)
      let keys = (0..<count).map { number in
        UAFCredentialRecord(
          aaid: "7357#0001", keyID: [UInt8](repeating: first + number, count: 32), user: "alice",
          publicKey: [4, first + number], algorithm: 1, keyFormat: 0x100, signCounter: 0,
          registrationCounter: 0, authenticatorVersion: 1, created: 0
        ).new
      }
      return try await server.storage.finishUAFRegistration(
        "\(id)", UAFOperationEnd(status: 1200, time: 1), adding: keys, limit: 4
      ) { _ in event }
    }
    #expect(try await register(3, from: 0) == .accepted)
    #expect(try await register(2, from: 10) == .tooMany)
    #expect(try await server.storage.uafOperation("s10")?.end?.status == 1403)
    #expect(try await register(1, from: 20) == .accepted)
    #expect(try await register(1, from: 30) == .tooMany)
    #expect(try await server.storage.uafCredentials(user: "alice").count == 4)
  }
}
