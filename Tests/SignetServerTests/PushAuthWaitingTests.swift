import PostgreSQLFixture
import SignetCrypto
import SignetHTTPClient
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetProtocol
import SignetPushAuth
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Testing

/// Authenticator apps that poll for messages because they get no pushes.
@Suite(.timeLimit(.minutes(10))) struct PushAuthWaitingTests {
  private let server: UAFServer
  private let key: PushAuthKey
  private let endpoints: PushAuthEndpoints

  init() async throws { try await self.init(on: .ofServices) }

  private init(on backend: StorageBackend) async throws {
    server = try await UAFServer([], on: backend)
    let made = try await PushAuthService(server.context).enrol(NewPushApp(["user": "alice"]), by: .local)
    let push = try #require(try AuthenticatorURI(made.uri).push)
    key = try push.sharedSecret.withSecret { try PushAuthKey($0) }
    endpoints = try PushAuthEndpoints(
      registration: push.registrationEndpoint, authentication: push.authenticationEndpoint)
    let registration = PushAuthRequest.registration(
      of: "app-1", messageID: try #require(push.messageID), challenge: try #require(push.challenge),
      device: try PushAuthDevice(token: "live", name: "Laptop", service: PushAuthDevice.live), at: endpoints,
      cookie: nil, key: key)
    #expect(try await post("?_action=register", registration.body).status == 200)
  }

  private func post(_ path: String, _ body: JSONObject) async throws -> HTTPResponse {
    try await server.send(
      .post, "//main/v1/pushauth\(path)", body.bytes,
      [("Content-Type", "application/json")])
  }

  private func ask(
    _ name: String = "app-1", known: String? = nil, seconds: Int64 = 0, at offset: Int64 = 0,
    by other: PushAuthKey? = nil
  ) async throws -> HTTPResponse {
    let asked = PushAuthWaiting(time: server.clock.now + offset, known: known, seconds: seconds)
    let request = PushAuthRequest.waiting(of: name, asked, at: endpoints, cookie: nil, key: other ?? key)
    #expect(request.url == "\(server.origin)/main/v1/pushauth/waiting")
    return try await post("/waiting", request.body)
  }

  private func list(_ response: HTTPResponse) throws -> JSONObject {
    #expect(response.status == 200)
    return try JSONObject(parsing: response.body)
  }

  @Test("pending messages are listed only with the secret and a current time") func refusals()
    async throws
  {
    #expect(try await ask().status == 200)
    #expect(try await ask(by: PushAuthKey(SecretBytes.random(byteCount: 32))).status == 400)
    #expect(try await ask("app-2").status == 400)
    for offset: Int64 in [-301, 301] { #expect(try await ask(at: offset).status == 400) }
    for offset: Int64 in [-300, 300] { #expect(try await ask(at: offset).status == 200) }
    // A token for one purpose is not valid for the other.
    let asked = PushAuthRequest.waiting(
      of: "app-1", PushAuthWaiting(time: server.clock.now, known: nil, seconds: 0), at: endpoints,
      cookie: nil,
      key: key)
    #expect(try await post("?_action=refresh", asked.body).status == 400)
    let update = PushAuthRequest.update(
      of: "app-1", userID: nil, device: try PushAuthDevice(token: "AB", name: "Phone"), at: endpoints,
      cookie: nil, key: key)
    #expect(try await post("/waiting", update.body).status == 400)
    let text = try await server.audit().joined()
    #expect(!text.contains("pushauth.deviceChanged"))
  }

  @Test(
    "a polling app gets ten numbers of equal length to choose from",
    arguments: 2...6)
  func tenNumbers(_ digits: Int) async throws {
    let transactions = TransactionService(server.context) { _ in }
    let made = try await transactions.create(
      TransactionDraft(
        .text("Pay 1 EUR"), from: "Shop", user: UserID("alice"), numberDigits: digits,
        requirements: ["urn:signet:acr:answered"]), by: .local)
    let right = try #require(made.number?.digits)
    let waiting = try list(try await ask())
    guard case .object(let first)? = try waiting.array("messages").first else {
      throw JSONFailure.missingMember("messages")
    }
    let message = try PushAuthDelivery(
      messageID: first.string("messageId"), token: first.string("data")
    ).verified(with: key)
    let numbers = message.numbers.map(String.init)
    #expect(message.kind == .challenge && Set(numbers).count == 10 && numbers.contains(right))
    #expect(numbers.allSatisfy { $0.utf8.count == digits } && message.numbers == message.numbers.sorted())
    let wrong = try #require(numbers.first { $0 != right })
    for number in [wrong, right] {
      let answer = try PushAuthRequest.answer(.number(number), to: message, at: endpoints, key: key)
      #expect(try await post("?_action=authenticate", answer.body).status == 400, "one may be tried")
    }
    #expect(try await server.storage.transaction(made.record.id)?.state == .denied)
  }

  @Test("a waiting app is answered when a message arrives, and learns each outcome")
  func waits() async throws {
    let tag = try list(try await ask()).string("tag")
    async let answered = ask(known: tag, seconds: 50)
    while await server.waitingDeviceCount == 0 { await Task.yield() }
    let service = PushAuthService(server.context)
    let sent = try await service.send(
      NewPushMessage(["user": "alice", "text": "Log in?", "lifetime": 60]), from: "Shop", by: .local)
    #expect(sent.delivery == .live)
    let waiting = try list(try await answered)
    #expect(
      waiting["messages"] == [["messageId": .string(sent.messageID), "data": .string(sent.token)]])
    #expect(try waiting.string("tag") != tag)
    // A transaction is asked of the app too, which is the only way to reach alice.
    let transactions = TransactionService(server.context) { _ in }
    let made = try await transactions.create(
      TransactionDraft(
        .text("Pay 1 EUR"), from: "Shop", user: UserID("alice"), requirements: ["urn:signet:acr:answered"]),
      by: .local)
    let both = try list(try await ask())
    #expect(try both.array("messages").count == 2 && both.array("ended").isEmpty)
    try await transactions.withdraw(made.record.id, reason: "", by: .local)
    let deny = try PushAuthRequest.answer(
      .deny, to: PushAuthDelivery(messageID: sent.messageID, token: sent.token).verified(with: key),
      at: endpoints, key: key)
    #expect(try await post("?_action=authenticate", deny.body).status == 200)
    let after = try list(try await ask())
    let statuses = try after.array("ended").map { value -> String in
      guard case .object(let one) = value else { return "" }
      return try one.string("status")
    }
    #expect(try after.array("messages").isEmpty && statuses.sorted() == ["denied", "withdrawn"])
    server.clock.advance(by: 10_000)
    #expect(try list(try await ask()).array("ended").isEmpty)
  }

  @Test("a waiting app gets its user's suspension, and is refused until it ends")
  func suspended() async throws {
    let (users, alice) = (UserService(server.context), UserID("alice"))
    let tag = try list(try await ask()).string("tag")
    async let answered = ask(known: tag, seconds: 50)
    while await server.waitingDeviceCount == 0 { await Task.yield() }
    _ = try await users.suspend(alice, reason: "", by: .local)
    for response in [try await answered, try await ask()] {
      #expect(response.status == 403 && Problem(parsing: response.body)?.code == .userNotActive)
    }
    // A caller with another key does not learn of the suspension.
    #expect(try await ask(by: PushAuthKey(SecretBytes.random(byteCount: 32))).status == 400)
    _ = try await users.resume(alice, by: .local)
    #expect(try await list(ask()).array("messages").isEmpty)
  }

  @Test("a removed app is refused with an error that apps know")
  func removed() async throws {
    let found = try await server.storage.pushAuthMechanisms(user: "alice")
    let tag = try list(try await ask()).string("tag")
    async let answered = ask(known: tag, seconds: 50)
    while await server.waitingDeviceCount == 0 { await Task.yield() }
    let event = AuditRecord(.pushAuthRemoved(mechanism: found[0].id), by: .local, at: server.clock.now)
    #expect(try await server.storage.removePushAuthMechanism(found[0].id, audit: event))
    for response in [try await answered, try await ask()] {
      #expect(response.status == 400)
      #expect(try JSONObject(parsing: response.body).string("message") == "The message was not accepted.")
    }
  }

  @Test("an app is listed as pending until it has registered, and then with the time of its last answer")
  func listed() async throws {
    let service = PushAuthService(server.context)
    let admin = try await APIKeyService(server.context).create(name: "operator", scopes: [.admin], by: .local)
    func apps() async throws -> [JSONObject] {
      let answer = try list(
        try await server.send(
          .get, "//main/v1/admin/pushauth/mechanisms?user=alice", [],
          [("Authorization", "Bearer \(admin.text)")]))
      return try answer.array("authenticators").map { value in
        guard case .object(let app) = value else { throw JSONFailure.missingMember("id") }
        return app
      }
    }
    let invited = try await service.enrol(NewPushApp(["user": "alice"]), by: .local)
    let states = try await apps().map { try $0.string("state") }
    #expect(states.sorted() == ["active", "pending"])
    let active = try #require(try await apps().first { $0["state"] == "active" })
    let sent = try await service.send(
      NewPushMessage(["mechanism": .string(try active.string("id"))]), from: "Shop", by: .local)
    #expect(try await apps().allSatisfy { $0["lastAnswered"] == nil })
    server.clock.advance(by: 5)
    let deny = try PushAuthRequest.answer(
      .deny, to: PushAuthDelivery(messageID: sent.messageID, token: sent.token).verified(with: key),
      at: endpoints, key: key)
    #expect(try await post("?_action=authenticate", deny.body).status == 200)
    let answered = try await apps().filter { $0["lastAnswered"] != nil }
    #expect(try answered.map { try $0.integer("lastAnswered") } == [server.clock.now])
    #expect(answered.first?["id"] != .string(invited.id.text))
  }

  @Test("a transaction with an altered row does not hold up other messages")
  func altered() async throws {
    let app = try await Self(on: .sqlite)
    func send(_ lifetime: Int64) async throws -> SentPushAuthMessage {
      try await PushAuthService(app.server.context).send(
        NewPushMessage(["user": "alice", "text": "Log in?", "lifetime": .integer(lifetime)]), from: "Shop",
        by: .local)
    }
    let (over, open) = (try await send(60), try await send(3600))
    try app.server.tamper(
      "UPDATE transactions SET content = '{}' WHERE id = '\(over.record.transaction)'")
    app.server.clock.advance(by: 61)
    let told = try app.list(try await app.ask())
    #expect(told["messages"] == [["messageId": .string(open.messageID), "data": .string(open.token)]])
    #expect(told["ended"] == [["messageId": .string(over.messageID), "status": "expired"]])
  }

  @Test("a message reported as expired stays expired after the clock is set back", arguments: [false, true])
  func toldOnce(_ isTransaction: Bool) async throws {
    var transaction: TransactionID?
    if isTransaction {
      let order = TransactionDraft(
        .text("Pay 1 EUR"), from: "Shop", user: UserID("alice"), lifetime: 60,
        requirements: ["urn:signet:acr:answered"])
      transaction = try await TransactionService(server.context) { _ in }.create(order, by: .local).record.id
    } else {
      _ = try await PushAuthService(server.context).send(
        NewPushMessage(["user": "alice", "text": "Log in?", "lifetime": 60]), from: "Shop", by: .local)
    }
    let waiting = try #require(try list(try await ask()).array("messages").first)
    guard case .object(let asked) = waiting else { throw CancellationError() }
    let delivery = try PushAuthDelivery(
      messageID: try asked.string("messageId"), token: try asked.string("data"))
    let yes = try PushAuthRequest.answer(.approve, to: delivery.verified(with: key), at: endpoints, key: key)
    func told() async throws -> JSONValue? { try list(try await ask()).array("ended").first }
    server.clock.advance(by: 61)
    let end = JSONValue.object(["messageId": .string(delivery.messageID), "status": "expired"])
    #expect(try await told() == end)
    server.clock.advance(by: -60)
    #expect(try await post("?_action=authenticate", yes.body).status == 400)
    #expect(try await told() == end)
    if let transaction {
      #expect(try await server.context.storage.transaction(transaction)?.state == .expired)
    }
  }
}
