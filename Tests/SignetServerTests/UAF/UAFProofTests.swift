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

/// A device's signature is valid only for the request that it names.
@Suite(.timeLimit(.minutes(10))) struct UAFProofTests {
  private static let path = "/nevisfido/devices/d1"

  @Test("a JWS for one request is refused for others") func boundToTheRequest() async throws {
    let server = try await UAFServer(UAFTestKey())
    let device = try await UAFTestDevice(on: server)
    func jws(_ method: String, _ path: String) throws -> String {
      try device.jws(at: server.clock.now, ["method": .string(method), "path": .string(path)])
    }
    let read = "/nevisfido/devices/credentials/d1"
    #expect(try await server.signed(.delete, "/devices/d1", jws("GET", read)).refusal == "401 otherRequest")
    #expect(
      try await server.signed(.delete, "/devices/d1", jws("GET", Self.path)).refusal == "401 otherRequest")
    #expect(
      try await server.signed(.get, "/devices/oob-operations/d1", jws("GET", read)).refusal
        == "401 otherRequest")
    #expect(
      try await server.change("/token/dispatch/targets/\(device.target)", jws("DELETE", read)).refusal
        == "401 otherRequest")
    #expect(try await server.signed(.get, "/devices/credentials/d1", jws("GET", read)).status == 200)
    #expect(try await server.signed(.delete, "/devices/d1", jws("DELETE", Self.path)).status == 204)
  }

  @Test("a JWS bound to its body removes no other keys") func boundToTheBody() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.register(key)
    let device = try await UAFTestDevice(on: server)
    func body(_ context: String) -> [UInt8] {
      (["op": "Dereg", "context": .string(context)] as JSONObject).bytes
    }
    let meant = body(
      #"{"username":"alice","authenticators":[{"aaid":"7357#0009","keyID":""},{"aaid":"7357#0001","keyID":"\#(KeyID.random().text)"}]}"#
    )
    let path = "/uaf/1.1/request/deregistration"
    func send(_ sent: [UInt8]) async throws -> HTTPResponse {
      let digest = Base64URL.encode(HashFunction.sha256.digest(of: meant))
      let jws = try device.jws(
        at: server.clock.now,
        ["method": "POST", "path": .string("/nevisfido\(path)"), "body": .string(digest)])
      return try await server.send(
        .post, path, sent, [("Content-Type", "application/fido+uaf"), ("Device-Signature", jws)])
    }
    #expect(try await send(body(#"{"username":"alice"}"#)).refusal == "401 otherRequest")
    #expect(try await server.storage.uafCredentials(user: "alice").count == 1)
    #expect(try await send(meant).status == 200)
  }

  @Test("claims of a JWS about its request are parsed strictly", arguments: ["method", "path", "body"])
  func mistyped(_ member: String) async throws {
    let server = try await UAFServer(UAFTestKey())
    let device = try await UAFTestDevice(on: server)
    let jws = try device.jws(at: server.clock.now, [member: 1])
    #expect(try await server.signed(.get, "/devices/credentials/d1", jws).refusal == "400 malformed")
  }
}
