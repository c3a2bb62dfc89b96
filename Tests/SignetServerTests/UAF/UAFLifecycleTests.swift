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

/// Complete operations: the server's transactions, several authenticators, clones, and competing answers.
@Suite(.timeLimit(.minutes(10))) struct UAFLifecycleTests {
  private static let context = #"{"username":"alice"}"#

  // MARK: Transactions

  private func transaction(_ server: UAFServer, _ more: JSONObject = [:]) async throws -> String {
    var body: JSONObject = ["user": "alice", "text": "Pay 10 to Bob"]
    for (name, value) in more.members { body[name] = value }
    return try await server.json("//main/v1/transactions", body, status: 201).string("id")
  }

  private func state(_ id: String, _ server: UAFServer) async throws -> JSONObject {
    try JSONObject(
      parsing: try await server.send(.get, "//main/v1/transactions/\(id)", isOrdered: true).body)
  }

  private func ask(_ server: UAFServer, _ id: String, _ user: String = "alice") async throws -> JSONObject {
    try await server.uaf(
      "/uaf/1.1/request/authentication",
      ["op": "Auth", "context": .string(#"{"username":"\#(user)","transactionId":"\#(id)"}"#)],
      isOrdered: true)
  }

  private func answer(_ server: UAFServer, _ asked: JSONObject, _ key: UAFTestKey) async throws -> Int64 {
    let text = try UAFAttempt(.authentication).answer(UAFAttempt.first(of: asked.string("uafRequest")), key)
    return try await server.uaf("/uaf/1.1/authentication", ["uafResponse": .string(text)])
      .integer("statusCode")
  }

  @Test("unauthenticated requests write nothing into the audit log")
  func asksQuietly() async throws {
    let server = try await UAFServer(UAFTestKey())
    let before = try await server.audit().count
    for _ in 0..<3 {
      let asked = try await server.uaf("/uaf/1.1/request/authentication", ["op": "Auth"])
      #expect(try asked.integer("statusCode") == 1200)
    }
    #expect(try await server.audit().count == before)
    _ = try await server.uaf(
      "/uaf/1.1/request/registration", ["op": "Reg", "context": #"{"username":"alice"}"#], isOrdered: true)
    #expect(try await server.audit().last?.contains("uaf.requested") == true)
  }

  @Test(
    "one public key is registered once, as a container's or a UAF key, in any format",
    arguments: [false, true])
  func refusesTakenPublicKeys(_ isDER: Bool) async throws {
    var key = UAFTestKey(isDER: isDER)
    let own = key.privateKey
    let server = try await UAFServer(key)
    let container = try await server.activate()
    for taken in [container.signing, container.session] {
      key.privateKey = taken
      #expect(try await server.register(key).integer("statusCode") == 1498)
      #expect(try await server.audit().last?.contains("the key is registered already") == true)
    }
    #expect(try await server.storage.uafCredentials(user: "alice").isEmpty)
    key.privateKey = own
    #expect(try await server.register(key).integer("statusCode") == 1200)
    let bob = UserID("bob")
    try await server.users.add(bob, by: .local)
    for isRemoved in [false, true] {
      if isRemoved {
        _ = try await server.storage.removeUAFCredentials(of: "alice", [UAFKeySelection()]) { _, _ in
          .sample()
        }
      }
      let invite = try await ActivationService(server.context).invite(bob, lifetime: nil, by: .local)
      var thief = ProtocolDevice(code: invite.code, id: 2)
      thief.signing = own
      #expect(try await problem { try await thief.activate(server.context) } == .exists)
    }
    #expect(try await server.storage.containers(user: "bob").isEmpty)
    // The key still belongs to its user.
    #expect(try await server.register(key).integer("statusCode") == 1200)
  }

  @Test("a transaction of the server is decided by UAF as by a container, once")
  func decidesATransaction() async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.register(key)
    let id = try await transaction(server)
    let (first, second) = (try await ask(server, id), try await ask(server, id))
    #expect(
      try UAFAttempt.first(of: first.string("uafRequest"))["transaction"]
        == [["contentType": "text/plain", "content": .string(Base64URL.encode(Array("Pay 10 to Bob".utf8)))]])
    key.signCounter = 2
    let text = try UAFAttempt(.authentication).answer(UAFAttempt.first(of: first.string("uafRequest")), key)
    let taken = try await server.uaf("/uaf/1.1/authentication", ["uafResponse": .string(text)])
    #expect(try taken.integer("statusCode") == 1200)
    // The resulting token is for the transaction's requester and does not manage keys.
    guard case .array(let tokens)? = taken["additionalTokens"], case .object(let token)? = tokens.first else {
      throw Unexpected(description: taken.bytes.description)
    }
    let removal: JSONObject = ["op": "Dereg", "context": #"{"username":"alice"}"#]
    let bearer = [("Authorization", "Bearer \(try token.string("value"))")]
    #expect(
      try await server.uaf("/uaf/1.1/request/deregistration", removal, bearer).integer("statusCode") == 1401)
    let found = try await state(id, server)
    #expect(try found.string("status") == "accepted")
    #expect(try found.object("uaf").integer("time") == server.clock.now)
    #expect(found["decision"] == nil)
    // The second operation finds the transaction decided, and it cannot be withdrawn any more.
    key.signCounter = 3
    #expect(try await answer(server, second, key) == 1408)
    let withdrawn = try await server.send(.delete, "//main/v1/transactions/\(id)", isOrdered: true)
    #expect(withdrawn.status == 409)
    #expect(try await ask(server, id).integer("statusCode") == 1404)
    #expect(try await server.audit().contains { $0.contains("uaf.authenticated") && $0.contains(id) })
  }

  @Test("a transaction that has ended is not decided by UAF", arguments: ["withdrawn", "expired"])
  func decidesNothingThatHasEnded(_ end: String) async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key) { $0.requestLifetime = 600 }
    try await server.register(key)
    let id = try await transaction(server, ["lifetime": 60])
    let asked = try await ask(server, id)
    if end == "withdrawn" {
      #expect(try await server.send(.delete, "//main/v1/transactions/\(id)", isOrdered: true).status == 200)
    } else {
      server.clock.advance(by: 60)
    }
    key.signCounter = 2
    #expect(try await answer(server, asked, key) == 1408)
    #expect(try await state(id, server).string("status") == end)
    #expect(try await ask(server, id).integer("statusCode") == 1404)
  }

  @Test("texts that UAF cannot show, and requests of other users, are refused") func asksForPlainTextsOnly()
    async throws
  {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.users.add(UserID("bob"), by: .local)
    try await server.register(key)
    // The device shows a transaction that UAF cannot show.
    try await server.activate()
    let id = try await transaction(server)
    #expect(try await ask(server, id, "bob").integer("statusCode") == 1404)
    #expect(try await ask(server, "none").integer("statusCode") == 1404)
    let stranger = try await server.uaf(
      "/uaf/1.1/request/authentication",
      ["op": "Auth", "context": .string(#"{"username":"alice","transactionId":"\#(id)"}"#)])
    #expect(try stranger.integer("statusCode") == 1401)
    for (more, status) in [
      (["text": "Zahl 10 \u{20AC}"], 1498), (["text": .string(String(repeating: "x", count: 201))], 1498),
      (["number": ["digits": 2]], 1404),
    ] as [(JSONObject, Int64)] {
      let other = try await transaction(server, more)
      #expect(try await ask(server, other).integer("statusCode") == status, "\(more)")
    }
    let both = #"{"username":"alice","transactionId":"\#(id)","transaction":"x"}"#
    let refused = try await server.uaf(
      "/uaf/1.1/request/authentication", ["op": "Auth", "context": .string(both)], isOrdered: true)
    #expect(try refused.integer("statusCode") == 1400)
  }

  @Test(
    "the server alone decides that the requester is shown, so every accepted transaction was shown with it")
  func showsWhatIsSigned() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.register(key)
    // With the requester's name it is too long for UAF; without, it is not.
    let id = try await transaction(server, ["text": .string(String(repeating: "x", count: 195))])
    let context = #"{"username":"alice","transactionId":"\#(id)","isRequesterShown":true}"#
    let refused = try await server.uaf(
      "/uaf/1.1/request/authentication", ["op": "Auth", "context": .string(context)], isOrdered: true)
    #expect(try refused.integer("statusCode") == 1400)
    _ = try await server.json(
      "/token/authentication", ["op": "Auth", "context": .string(context)], status: 400)
    #expect(try await state(id, server).string("status") == "pending")
    let asked = try await ask(server, id)
    let shown = try UAFAttempt.first(of: asked.string("uafRequest")).array("transaction")
    #expect(shown.count == 1)
  }

  @Test("several forms of one content are confirmed in UAF alone") func confirmsForms() async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.register(key)
    let texts = ["Pay 10 to Bob", "Pay ten to Bob"].map {
      #"{"contentType":"text/plain","content":"\#(Base64URL.encode(Array($0.utf8)))"}"#
    }
    let context = #"{"username":"alice","transaction":[\#(texts.joined(separator: ","))]}"#
    let asked = try await server.uaf(
      "/uaf/1.1/request/authentication", ["op": "Auth", "context": .string(context)], isOrdered: true)
    let request = try UAFAttempt.first(of: asked.string("uafRequest"))
    var attempt = UAFAttempt(.authentication)
    let second = HashFunction.sha256.digest(of: Array("Pay ten to Bob".utf8))
    attempt.elements = { $0.change(.transactionContentHash) { $0 = second } }
    key.signCounter = 2
    let answer = try await server.uaf(
      "/uaf/1.1/authentication", ["uafResponse": .string(try attempt.answer(request, key))])
    #expect(try answer.integer("statusCode") == 1200)
    #expect(try await !server.audit().contains { $0.contains("transaction.added") })
  }

  // MARK: Several authenticators

  /// A server whose policy demands two authenticators at once.
  private func pair() async throws -> (UAFServer, UAFTestKey, UAFTestKey) {
    let (first, second) = (UAFTestKey(), UAFTestKey(aaid: AAID(vendor: 0x7357, model: 2)))
    let server = try await UAFServer([first, second]) { settings in
      settings.policies["default"] = Policy(accepted: [
        [MatchCriteria(aaids: [first.aaid]), MatchCriteria(aaids: [second.aaid])]
      ])
    }
    return (server, first, second)
  }

  /// A response with an assertion of each of several keys.
  private func respond(
    _ server: UAFServer, _ operation: UAFOperation, _ keys: [UAFTestKey],
    spoiling spoiled: KeyReference? = nil
  ) async throws -> Int64 {
    let path = operation == .registration ? "registration" : "authentication"
    let asked = try await server.uaf(
      "/uaf/1.1/request/\(path)", ["op": .string(operation.rawValue), "context": .string(Self.context)],
      isOrdered: true)
    let request = try UAFAttempt.first(of: asked.string("uafRequest"))
    var items: [JSONValue] = []
    var message = JSONObject()
    for key in keys {
      var attempt = UAFAttempt(operation)
      if key.reference == spoiled { attempt.elements = { $0.change(.finalChallengeHash) { $0[0] ^= 1 } } }
      message = try UAFAttempt.first(of: attempt.answer(request, key))
      items += try message.array("assertions")
    }
    message["assertions"] = .array(items)
    return try await server.uaf(
      "/uaf/1.1/\(path)", ["uafResponse": .string(JSONValue.array([.object(message)]).text)]
    ).integer("statusCode")
  }

  @Test("all authenticators of a combination are required, and each assertion is verified separately")
  func takesSeveralAssertions() async throws {
    var (server, first, second) = try await pair()
    #expect(try await respond(server, .registration, [first]) == 1492)
    #expect(try await respond(server, .registration, [first, second], spoiling: second.reference) == 1498)
    #expect(try await respond(server, .registration, [first, first]) != 1200)
    #expect(try await server.storage.uafCredentials(user: "alice").isEmpty)
    #expect(try await respond(server, .registration, [second, first]) == 1200)
    #expect(try await server.storage.uafCredentials(user: "alice").count == 2)
    (first.signCounter, second.signCounter) = (2, 2)
    #expect(try await respond(server, .authentication, [second]) == 1492)
    #expect(try await respond(server, .authentication, [first, second], spoiling: first.reference) == 1498)
    #expect(try await server.storage.uafCredentials(user: "alice").map(\.signCounter) == [1, 1])
    #expect(try await respond(server, .authentication, [first, second]) == 1200)
    #expect(try await server.storage.uafCredentials(user: "alice").map(\.signCounter) == [2, 2])
  }

  @Test("a cloned authenticator among several is detected, and the response is refused")
  func findsOneCopyOfSeveral()
    async throws
  {
    var (server, first, second) = try await pair()
    #expect(try await respond(server, .registration, [first, second]) == 1200)
    first.signCounter = 2
    #expect(try await respond(server, .authentication, [first, second]) == 1498)
    let stored = try await server.storage.uafCredentials(user: "alice")
    #expect(stored.map(\.state) == [.active, .quarantined])
    #expect(stored.map(\.signCounter) == [2, 1])
    second.signCounter = 2
    (first.signCounter, second.signCounter) = (3, 3)
    let asked = try await server.uaf(
      "/uaf/1.1/request/authentication", ["op": "Auth", "context": .string(Self.context)])
    // Without this key the combination is not possible.
    #expect(try asked.integer("statusCode") == 1404)
  }

  // MARK: Copies

  @Test("a clone and its original are both quarantined and logged, and an operator can release one")
  func keepsCopiesOut() async throws {
    var key = UAFTestKey()
    key.signCounter = 7
    let server = try await UAFServer(key)
    let admin = try await APIKeyService(server.context).create(name: "ops", scopes: [.admin], by: .local).text
    try await server.register(key)
    var copy = key
    key.signCounter = 8
    #expect(try await server.authenticate(key).integer("statusCode") == 1200)
    copy.signCounter = 8
    #expect(try await server.authenticate(copy).integer("statusCode") == 1498)
    for counter in [9, 100] as [UInt32] {
      key.signCounter = counter
      // For a named user, there is no usable key; for an unnamed one, the key is rejected.
      let asked = try await server.uaf(
        "/uaf/1.1/request/authentication", ["op": "Auth", "context": .string(Self.context)])
      #expect(try asked.integer("statusCode") == 1404)
      #expect(try await server.authenticate(key, "{}").integer("statusCode") == 1493)
    }
    let events = try await server.audit().filter { $0.contains("uaf.quarantined") }
    #expect(events.count == 1)
    #expect(
      try JSONObject(parsing: Array(#require(events.first).utf8)).string("keys").contains(key.keyID.text))
    #expect(server.capture.lines.contains { $0.contains("uaf.quarantined") })
    // The operator's commands.
    let headers = [("Authorization", "Bearer \(admin)")]
    let path = "//main/v1/admin/uaf/credentials"
    let listed = try await server.send(.get, "\(path)?user=alice", [], headers)
    #expect(
      try JSONObject(parsing: listed.body)["credentials"] == [
        [
          "aaid": "7357#0001", "keyId": .string(key.keyID.text), "user": "alice", "state": "quarantined",
          "algorithm": "ALG_SIGN_SECP256R1_ECDSA_SHA256_RAW (0x0001)", "signCounter": 8,
          "registrationCounter": 1, "authenticatorVersion": 256, "created": .integer(server.clock.now),
          "attestation": "claimed", "keyProtection": "software",
        ]
      ])
    let own = "\(path)/7357%230001/\(key.keyID.text)"
    let release = try await server.send(
      .post, "\(own)/release", [], headers + [("Content-Type", "application/json")])
    #expect(release.status == 200)
    let again = try await server.send(
      .post, "\(own)/release", [], headers + [("Content-Type", "application/json")])
    #expect(Problem(parsing: again.body)?.code == .uafKeyState)
    #expect(try await server.send(.get, "\(path)?user=alcie", [], headers).status == 404)
    #expect(try await server.send(.get, "//main/v1/admin/uaf/targets?user=alcie", [], headers).status == 404)
    key.signCounter = 101
    #expect(try await server.authenticate(key).integer("statusCode") == 1200)
    #expect(try await server.send(.delete, own, [], headers).status == 200)
    #expect(try await server.send(.delete, own, [], headers).status == 404)
    #expect(try await server.authenticate(key, "{}").integer("statusCode") == 1481)
    #expect(try await server.audit().contains { $0.contains("uaf.released") })
  }

  @Test("operators see the models, and devices without their push addresses") func showsDevicesAndModels()
    async throws
  {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    let device = try await UAFTestDevice(on: server)
    let admin = try await APIKeyService(server.context).create(name: "ops", scopes: [.admin], by: .local).text
    let headers = [("Authorization", "Bearer \(admin)")]
    let listed = try await server.send(.get, "//main/v1/admin/uaf/targets", [], headers)
    #expect(
      try JSONObject(parsing: listed.body)["targets"] == [
        [
          "id": .string(device.target), "user": "alice", "name": "Phone", "isEncrypted": true,
          "created": .integer(server.clock.now), "deviceId": "d1", "dispatcher": "link",
        ]
      ])
    let models = try await server.send(.get, "//main/v1/admin/uaf/models", [], headers)
    guard case .array(let list)? = try JSONObject(parsing: models.body)["models"],
      case .object(let model)? = list.first
    else {
      Issue.record("no models")
      return
    }
    #expect(try model.string("aaid") == "7357#0001")
    let path = "//main/v1/admin/uaf/targets/\(device.target)"
    #expect(try await server.send(.delete, path, [], headers).status == 200)
    #expect(try await server.send(.delete, path, [], headers).status == 404)
  }

  // MARK: Who comes first

  @Test(
    "several servers with one challenge: one answers",
    arguments: [UAFOperation.registration, .authentication])
  func takesOneResponse(_ operation: UAFOperation) async throws {
    var key = UAFTestKey()
    key.signCounter = 0
    let server = try await UAFServer(key)
    if operation == .authentication { try await server.register(key) }
    let path = operation == .registration ? "registration" : "authentication"
    let asked = try await server.uaf(
      "/uaf/1.1/request/\(path)", ["op": .string(operation.rawValue), "context": .string(Self.context)],
      isOrdered: true)
    let text = try UAFAttempt(operation).answer(UAFAttempt.first(of: asked.string("uafRequest")), key)
    let statuses = try await race(8) {
      try await server.uaf("/uaf/1.1/\(path)", ["uafResponse": .string(text)]).integer("statusCode")
    }
    #expect(statuses == [1200] + [Int64](repeating: 1491, count: 7))
    #expect(try await server.storage.uafCredentials(user: "alice").count == 1)
  }

  @Test("several servers with one token: one gets the request") func redeemsOnce() async throws {
    let server = try await UAFServer(UAFTestKey())
    let made = try await server.json(
      "/token/create/registration", ["op": "Reg", "context": .string(Self.context)])
    let statuses = try await race(8) {
      try await server.json("/token/redeem/registration", ["token": made["token"] ?? ""], isOrdered: false)
        .integer("statusCode")
    }
    #expect(statuses == [1200] + [Int64](repeating: 1491, count: 7))
  }

  @Test("several servers with one counter: one answers, and the key is quarantined")
  func takesOneCounter() async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.register(key)
    key.signCounter = 2
    var texts: [String] = []
    for _ in 1...4 {
      let asked = try await server.uaf(
        "/uaf/1.1/request/authentication", ["op": "Auth", "context": .string(Self.context)])
      texts.append(
        try UAFAttempt(.authentication).answer(UAFAttempt.first(of: asked.string("uafRequest")), key))
    }
    let answers = texts
    let statuses = try await withThrowingTaskGroup(of: Int64.self) { group in
      for text in answers {
        group.addTask {
          try await server.uaf("/uaf/1.1/authentication", ["uafResponse": .string(text)]).integer(
            "statusCode")
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses.count { $0 == 1200 } == 1, "\(statuses)")
    #expect(statuses.allSatisfy { [1200, 1481, 1493, 1498].contains($0) }, "\(statuses)")
    #expect(try await server.storage.uafCredentials(user: "alice").map(\.state) == [.quarantined])
  }

  private func race(_ count: Int, _ body: @escaping @Sendable () async throws -> Int64) async throws
    -> [Int64]
  {
    try await withThrowingTaskGroup(of: Int64.self) { group in
      for _ in 0..<count { group.addTask { try await body() } }
      return try await group.reduce(into: []) { $0.append($1) }.sorted()
    }
  }
}

private struct Unexpected: Error, CustomStringConvertible {
  let description: String
}
