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

/// Requests of devices with their users' keys.
@Suite(.timeLimit(.minutes(10))) struct UAFDeviceTests {
  /// Registers a key like a client on a device.
  private func register(_ key: UAFTestKey, _ server: UAFServer, on device: String?) async throws {
    let request = try await server.registrationRequest()
    var body: JSONObject = ["uafResponse": .string(try UAFServer.answer(request, key))]
    if let device { body["context"] = .string(#"{"deviceId":"\#(device)"}"#) }
    #expect(try await server.uaf("/uaf/1.1/registration", body).integer("statusCode") == 1200)
  }

  /// Verifies and reads the server's signed answer to a device.
  private func read(_ response: HTTPResponse, _ server: UAFServer) async throws -> JSONObject {
    #expect(response.status == 200)
    #expect(response.header("Content-Type") == "application/jose;charset=UTF-8")
    let own = try await SigningKeyService(server.context).currentPublicKey()
    let answer = try JWS(compact: String(decoding: response.body, as: UTF8.self))
    return try JSONObject(parsing: answer.verified(with: VerificationKey(own), allowing: [.es256]).payload)
  }

  @Test func aDeviceSeesTheKeysThatWereRegisteredOnIt() async throws {
    let keys = [UAFTestKey(), UAFTestKey(), UAFTestKey()]
    let server = try await UAFServer(keys)
    for (key, device) in zip(keys, ["d1", "d2", nil]) { try await register(key, server, on: device) }
    let device = try await UAFTestDevice(on: server)
    _ = try await UAFTestDevice(on: server, name: "Tablet", device: "d2")
    let answer = try await read(
      server.signed(.get, "/devices/credentials/d1", device.jws(at: server.clock.now)), server)
    guard case .array(let list)? = answer["dispatchTargets"], case .object(let target)? = list.first else {
      Issue.record("no target: \(answer)")
      return
    }
    #expect(list.count == 1)
    #expect(try target.string("id") == device.target)
    #expect(try target.string("extId") == device.target)
    #expect(try target.string("username") == "alice")
    #expect(try target.string("name") == "Phone")
    #expect(try target.string("deviceId") == "d1")
    #expect(try target.string("dispatcher") == "link")
    #expect(try target.string("target") == "address:1")
    #expect(
      target["credentials"] == [
        ["aaid": .string(keys[0].aaid.text), "keyId": .string(keys[0].keyID.text)]
      ])
  }

  @Test(arguments: ["", ".", "..", String(repeating: "x", count: 129), "a\\n"])
  func aDeviceHasANameThatFits(_ name: String) async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    let request = try await server.registrationRequest()
    let answer = try await server.uaf(
      "/uaf/1.1/registration",
      [
        "uafResponse": .string(try UAFServer.answer(request, key)),
        "context": .string(#"{"deviceId":"\#(name)"}"#),
      ])
    #expect(try answer.integer("statusCode") == 1400)
    #expect(try await server.storage.uafCredentials(user: "alice").isEmpty)
  }

  @Test func aDeviceIsForgottenWithItsKeysAndNoOther() async throws {
    let keys = [UAFTestKey(), UAFTestKey()]
    let server = try await UAFServer(keys)
    try await server.users.add(UserID("bob"), by: .local)
    for (key, device) in zip(keys, ["d1", "d2"]) { try await register(key, server, on: device) }
    let device = try await UAFTestDevice(on: server)
    let others = [
      try await UAFTestDevice(on: server, name: "Tablet", device: "d2"),
      try await UAFTestDevice(on: server, user: "bob"),
    ]
    #expect(try await server.signed(.delete, "/devices/d1", device.jws(at: server.clock.now)).status == 204)
    #expect(
      try await server.storage.uafTargets(limit: 9).map(\.id.text).sorted() == others.map(\.target).sorted())
    #expect(try await server.storage.uafCredentials(limit: 9).map(\.keyID) == [keys[1].keyID.bytes])
    let again = try await server.signed(.delete, "/devices/d1", device.jws(at: server.clock.now))
    #expect(try again.refusal == "404 targetUnknown")
    #expect(try await server.audit().contains { $0.contains("uaf.deviceRemoved") })
  }

  @Test func aDeviceSeesWhatWaitsForIt() async throws {
    let server = try await UAFServer(UAFTestKey())
    let device = try await UAFTestDevice(on: server)
    let tablet = try await UAFTestDevice(on: server, name: "Tablet", device: "d2")
    var tokens: [String] = []
    for _ in 1...2 {
      let sent = try await server.json(
        "/token/dispatch/registration",
        [
          "dispatchTargetId": .string(device.target), "dispatchInformation": ["data": "for the app"],
          "getUafRequest": ["op": "Reg", "context": #"{"username":"alice"}"#],
        ])
      tokens.append(try sent.string("token"))
      server.clock.advance(by: 1)
    }
    func waiting(_ device: UAFTestDevice, _ path: String) async throws -> [JSONObject] {
      let answer = try await read(
        server.signed(.get, path, device.jws(at: server.clock.now)), server)
      guard case .array(let list)? = answer["operations"] else { return [] }
      return list.compactMap { value in
        guard case .object(let object) = value else { return nil }
        return object
      }
    }
    let list = try await waiting(device, "/devices/oob-operations/d1")
    #expect(try await waiting(tablet, "/devices/oob-operations/d2").isEmpty)
    let payloads = try list.map { try device.opened($0.object("payload")) }
    #expect(try payloads.map { try $0.string("token") } == tokens.reversed())
    #expect(try payloads.map { try $0.string("data") } == ["for the app", "for the app"])
    #expect(try list.map { try $0.string("dispatchChannel") } == ["link", "link"])
    let times = try list.map { try $0.integer("creationTimeInEpochMillis") }
    #expect(times == [(server.clock.now - 1) * 1_000, (server.clock.now - 2) * 1_000])
    // A redeemed operation is not pending any more.
    _ = try await server.json("/token/redeem/registration", ["token": .string(tokens[1])])
    #expect(try await waiting(device, "/devices/oob-operations/d1").count == 1)
    server.clock.advance(by: 300)
    #expect(try await waiting(device, "/devices/oob-operations/d1").isEmpty)
  }

  @Test func aDeviceThatKnowsTheListWaitsForAnother() async throws {
    let server = try await UAFServer(UAFTestKey())
    let device = try await UAFTestDevice(on: server, hasAddress: false)
    let open = try await UAFTestDevice(on: server, name: "Open", isEncrypted: false, hasAddress: false)
    @Sendable func ask(_ headers: [(String, String)]) async throws -> HTTPResponse {
      let jws = try device.jws(at: server.clock.now)
      return try await server.send(
        .get, "/devices/oob-operations/d1", [], [("Device-Signature", jws)] + headers)
    }
    let tag = try #require(try await ask([]).header("ETag"))
    // Without one of the two headers, or with another tag, the answer comes at once.
    for headers in [
      [("If-None-Match", tag)], [("Prefer", "wait=50")], [("If-None-Match", "\"x\""), ("Prefer", "wait=50")],
    ] { #expect(try await ask(headers).status == 200) }
    #expect(try await ask([("If-None-Match", tag), ("Prefer", "wait=1")]).status == 304)
    async let answered = ask([("If-None-Match", tag), ("Prefer", "wait=50")])
    while await server.waitingDeviceCount == 0 { await Task.yield() }
    func dispatch(to target: String) async throws -> JSONObject {
      try await server.json(
        "/token/dispatch/registration",
        [
          "dispatchTargetId": .string(target),
          "getUafRequest": ["op": "Reg", "context": #"{"username":"alice"}"#],
        ])
    }
    let sent = try await dispatch(to: device.target)
    #expect(try sent.string("dispatchResult") == "dispatched")
    #expect(try sent.object("dispatcherInformation") == ["name": "live"])
    let answer = try await answered
    #expect(answer.header("ETag").map { $0 != tag } == true)
    guard case .object(let operation)? = try await read(answer, server).array("operations").first else {
      Issue.record("nothing waits")
      return
    }
    #expect(try operation.string("id") == sent.string("sessionId"))
    #expect(try operation.string("dispatchChannel") == "live")
    // An encrypted dispatch needs the device's key.
    #expect(try await dispatch(to: open.target).string("dispatchResult") == "dispatcherNotFound")
  }

  @Test(arguments: [true, false]) func aDeviceChangesItself(_ isByTarget: Bool) async throws {
    let server = try await UAFServer(UAFTestKey())
    let device = try await UAFTestDevice(on: server)
    _ = try await UAFTestDevice(on: server, name: "Tablet", device: "d2")
    let path = isByTarget ? "/token/dispatch/targets/\(device.target)" : "/devices/d1"
    func change(_ changes: JSONObject) async throws -> HTTPResponse {
      try await server.change(path, device.jws(at: server.clock.now, changes))
    }
    func listed() async throws -> JSONObject {
      let answer = try await server.send(
        .get, "/token/dispatch/targets?username=alice", isOrdered: true)
      let targets = try JSONObject(parsing: answer.body).array("dispatchTargets")
      for case .object(let target) in targets where target["id"] == .string(device.target) { return target }
      return [:]
    }
    #expect(
      try await change(["name": "Mine", "target": "address:2", "dispatcher": "png-qr-code"]).status == 204)
    let changed = try await listed()
    #expect(try changed.string("name") == "Mine")
    #expect(try changed.string("target") == "address:2")
    #expect(try changed.string("dispatcher") == "png-qr-code")
    #expect(try await change(["target": ""]).status == 204)
    #expect(try await listed()["target"] == nil)
    #expect(try await change([:]).status == 204)
    #expect(try await change(["name": "Tablet"]).refusal == "422 nameTaken")
    #expect(try await change(["name": ""]).refusal == "400 malformed")
    #expect(try await change(["name": 1]).refusal == "400 malformed")
    #expect(
      try await change(["name": .string(String(repeating: "x", count: 257))]).refusal == "400 malformed")
    #expect(
      try await change(["target": .string(String(repeating: "x", count: 4097))]).refusal == "400 malformed")
    #expect(try await change(["dispatcher": "pigeon"]).refusal == "422 dispatcherUnavailable")
    #expect(
      try await change(["dispatcher": "firebase-cloud-messaging"]).refusal == "422 dispatcherUnavailable")
    #expect(try await server.storage.uafTarget("\(device.target)")?.name == "Mine")
  }

  // MARK: What is signed wrongly

  /// The device services, each called with a JWS.
  private static let ways: [@Sendable (UAFServer, UAFTestDevice, String) async throws -> HTTPResponse] = [
    { try await $0.change("/token/dispatch/targets/\($1.target)", $2) },
    { server, _, jws in try await server.change("/devices/d1", jws) },
    { try await $0.signed(.delete, "/token/dispatch/targets/\($1.target)", $2) },
    { server, _, jws in try await server.signed(.delete, "/devices/d1", jws) },
    { server, _, jws in try await server.signed(.get, "/devices/credentials/d1", jws) },
    { server, _, jws in try await server.signed(.get, "/devices/oob-operations/d1", jws) },
  ]

  @Test(arguments: 0..<6) func whatIsSignedWronglyIsRefused(_ way: Int) async throws {
    let server = try await UAFServer(UAFTestKey())
    let device = try await UAFTestDevice(on: server)
    let other = try await UAFTestDevice(on: server, name: "Tablet", device: "d2")
    let now = server.clock.now
    func send(_ text: String) async throws -> String {
      try await Self.ways[way](server, device, text).refusal
    }
    func claims(_ change: (inout JSONObject) -> Void) throws -> String {
      var claims = device.claims(at: now)
      change(&claims)
      return try JWS.sign(claims.bytes, with: SigningKey(device.signing))
    }
    for seconds in [61, -61, 86_400, Int64.max / 1_000 - now, Int64.min / 1_000 - now + 1] {
      #expect(try await send(device.jws(at: now + seconds)) == "401 clockSkewTooBig", "\(seconds)")
    }
    #expect(try await send(device.jws(at: now, by: other.signing)) == "401 signatureInvalid")
    #expect(try await send(other.jws(at: now)) == "401 notKeyOwner")
    #expect(try await send(claims { $0["dispatchTargetId"] = "none" }) == "404 targetUnknown")
    for member in ["dispatchTargetId", "requestId", "creationTimeInEpochMillis"] {
      #expect(try await send(claims { $0[member] = nil }) == "400 malformed", "\(member)")
      #expect(try await send(claims { $0[member] = [] }) == "400 malformed", "\(member)")
    }
    #expect(try await send(claims { $0["requestId"] = "" }) == "400 malformed")
    let long = String(repeating: "r", count: 65)
    #expect(try await send(claims { $0["requestId"] = .string(long) }) == "400 malformed")
    #expect(try await send("no") == "400 malformed")
    // With another algorithm, or with none.
    let parts = try device.jws(at: now).split(separator: ".").map(String.init)
    for header in [#"{"alg":"none"}"#, #"{"alg":"HS256"}"#, #"{"alg":"ES384"}"#] {
      let text = "\(Base64URL.encode(Array(header.utf8))).\(parts[1]).\(parts[2])"
      let refusal = try await send(text)
      #expect(["401 signatureInvalid", "400 malformed"].contains(refusal), "\(header): \(refusal)")
    }
    var flipped = Array(parts[2].utf8)
    flipped[3] = flipped[3] == 0x41 ? 0x42 : 0x41
    #expect(
      try await send("\(parts[0]).\(parts[1]).\(String(decoding: flipped, as: UTF8.self))")
        == "401 signatureInvalid")
    // None of these changed or removed anything, or used up the ID.
    #expect(try await server.storage.uafTargets(user: "alice").count == 2)
    let good = try device.jws(at: now - 60, request: "r1")
    #expect((200...204).contains(try await Self.ways[way](server, device, good).status))
    let replay = try await send(good)
    // After it has removed itself, a replay finds no target.
    #expect(replay == ([2, 3].contains(way) ? "404 targetUnknown" : "401 requestReplayed"))
  }

  @Test func aSignatureIsNeeded() async throws {
    let server = try await UAFServer(UAFTestKey())
    let device = try await UAFTestDevice(on: server)
    for path in ["/devices/credentials/d1", "/devices/oob-operations/d1"] {
      #expect(try await server.send(.get, path).refusal == "401 unauthorized")
      let accepted = try await server.send(
        .get, path, [],
        [("Device-Signature", try device.jws(at: server.clock.now)), ("Accept", "application/json")])
      #expect(try accepted.refusal == "406 -")
    }
    #expect(try await server.send(.delete, "/devices/d1").refusal == "401 unauthorized")
    #expect(
      try await server.send(.delete, "/token/dispatch/targets/\(device.target)").refusal == "401 unauthorized"
    )
    for path in ["/devices/d1", "/token/dispatch/targets/\(device.target)"] {
      let jws = Array(try device.jws(at: server.clock.now).utf8)
      let response = try await server.send(.patch, path, jws, [("Content-Type", "application/json")])
      #expect(try response.refusal == "415 -")
    }
  }

  @Test("two servers on one request: one answers") func isAnsweredOnce() async throws {
    let server = try await UAFServer(UAFTestKey())
    let device = try await UAFTestDevice(on: server)
    let jws = try device.jws(at: server.clock.now, ["name": "Mine"])
    async let first = server.change("/devices/d1", jws)
    async let second = server.change("/devices/d1", jws)
    #expect(try await [first.status, second.status].sorted() == [204, 401])
  }

  @Test func aDeviceRemovesItsUsersKeysAndAddsNone() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.users.add(UserID("bob"), by: .local)
    try await register(key, server, on: "d1")
    let device = try await UAFTestDevice(on: server)
    func ask(_ operation: UAFOperation, _ user: String, _ jws: String) async throws -> HTTPResponse {
      let path = operation == .registration ? "registration" : "deregistration"
      let body: JSONObject = [
        "op": .string(operation.rawValue), "context": .string(#"{"username":"\#(user)"}"#),
      ]
      return try await server.send(
        .post, "/uaf/1.1/request/\(path)", body.bytes,
        [("Device-Signature", jws), ("Content-Type", "application/fido+uaf")])
    }
    func status(_ response: HTTPResponse) throws -> Int64 {
      #expect(response.status == 200)
      return try JSONObject(parsing: response.body).integer("statusCode")
    }
    let now = server.clock.now
    #expect(try await status(ask(.registration, "alice", device.jws(at: now))) == 1401)
    #expect(try await status(ask(.deregistration, "bob", device.jws(at: now))) == 1401)
    #expect(
      try await ask(.deregistration, "alice", device.jws(at: now + 61)).refusal == "401 clockSkewTooBig")
    #expect(try await server.storage.uafCredentials(user: "alice").count == 1)
    #expect(try await status(ask(.deregistration, "alice", device.jws(at: now))) == 1200)
    #expect(try await server.storage.uafCredentials(user: "alice").isEmpty)
  }

  // MARK: Adding

  @Test func aDeviceHasAUserAndANameOfItsOwn() async throws {
    let server = try await UAFServer(UAFTestKey())
    _ = try await UAFTestDevice(on: server)
    let jwk = JSONValue.object(P256.Signing.PrivateKey().publicKey.wireJWK).text
    let form: JSONObject = ["username": "alice", "name": "Tablet", "signatureKey": .string(jwk)]
    func add(_ change: (inout JSONObject) -> Void, isOrdered: Bool = true) async throws -> String {
      var body = form
      change(&body)
      return try await server.send(
        .post, "/token/dispatch/targets", body.bytes, [("Content-Type", "application/json")],
        isOrdered: isOrdered
      ).refusal
    }
    #expect(try await add { $0["name"] = "Phone" } == "422 nameTaken")
    #expect(try await add { $0["username"] = "nobody" } == "403 userUnknown")
    #expect(try await add({ _ in }, isOrdered: false) == "401 unauthorized")
    #expect(try await add { $0["dispatcher"] = "pigeon" } == "422 dispatcherUnavailable")
    for member in ["username", "name", "signatureKey"] {
      #expect(try await add { $0[member] = nil } == "400 malformed", "\(member)")
      #expect(try await add { $0[member] = 1 } == "400 malformed", "\(member)")
      #expect(try await add { $0[member] = "" } == "400 malformed", "\(member)")
    }
    for key in [
      "{}", "x", #"{"kty":"oct","k":"AAAA"}"#, #"{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}"#,
    ] {
      #expect(try await add { $0["signatureKey"] = .string(key) } == "400 malformed", "\(key)")
      #expect(try await add { $0["encryptionKey"] = .string(key) } == "400 malformed", "\(key)")
    }
    for name in ["", ".", ".."] {
      #expect(try await add { $0["deviceId"] = .string(name) } == "400 malformed", "\(name)")
    }
    let list = try await server.send(.get, "/token/dispatch/targets?username=alice")
    #expect(try list.refusal == "401 unauthorized")
    #expect(
      try await server.send(.get, "/token/dispatch/targets", isOrdered: true).refusal == "400 malformed")
    #expect(
      try await server.send(.delete, "/token/dispatch/targets/none", isOrdered: true).refusal
        == "404 targetUnknown")
    #expect(try await server.storage.uafTargets(user: "alice").count == 1)
  }
}
