import PostgreSQLFixture
import PushFixture
import SignetCrypto
import SignetHTTPClient
import SignetHTTPServer
import SignetInterchange
import SignetJOSE
import SignetJSON
import SignetOATH
import SignetProtocol
import SignetPush
import SignetPushAuth
import SignetServer
import SignetServerTesting
import SignetSQLite
import SignetStorage
import SignetTesting
import SignetUAF
import Synchronization
import Testing
import UAFFixture

/// A request of a relying party or a client of OpenID Connect, answered by any of the user's authenticators.
@Suite(.timeLimit(.minutes(10))) struct AnyAuthenticatorTests {
  /// An authenticator of alice.
  enum Kind: String, Sendable, CaseIterable { case container, uaf, app }

  private typealias Bench = AuthenticatorBench

  @Test(
    "the user's only authenticator is asked, and the ID token says what its answer proves",
    arguments: Kind.allCases, [ClientRecord.Delivery.poll, .ping])
  func one(_ kind: Kind, _ delivery: ClientRecord.Delivery) async throws {
    let bench = try await Bench([kind])
    let client = try await bench.register(delivery)
    let asked = try await bench.ask(client)
    #expect(try asked.outcome == "200")
    #expect(try await bench.poll(client, asked.id).outcome == "400 authorization_pending")
    #expect(try await bench.accept(kind, bench.sent()) == true)
    if delivery == .ping {
      await bench.notices.sendDue()
      // The running server may be sending it already.
      await bench.callback.waitForRequests(1)
      #expect(try bench.callback.bodies() == [["auth_req_id": .string(asked.id)]])
    }
    bench.server.clock.advance(by: 5)
    let claims = try await bench.claims(client, asked.id)
    try Self.expect(claims, of: kind)
    #expect(try await bench.poll(client, asked.id).outcome == "400 invalid_grant")
  }

  private static func expect(_ claims: JSONObject, of kind: Kind) throws {
    let (acr, amr) =
      switch kind {
      case .container: ("urn:signet:acr:signed", "swk")
      case .uaf: ("urn:signet:acr:uaf", "swk")
      case .app: ("urn:signet:acr:answered", "mca")
      }
    #expect(try claims.string("acr") == acr && claims.strings("amr") == [amr])
    #expect(claims.contains("signet_decision") == (kind == .container))
    #expect(try claims.string("signet_user") == "alice")
  }

  @Test(
    "the first answer of three authenticators ends the request, and the others are notified",
    arguments: Kind.allCases)
  func all(_ kind: Kind) async throws {
    let bench = try await Bench(Kind.allCases)
    let client = try await bench.register()
    let asked = try await bench.ask(client)
    let sent = bench.sent()
    #expect(sent.count == 2, "an operation and a message")
    let redeemed = try await bench.redeem(sent)
    #expect(try await bench.accept(kind, sent, redeemed: redeemed) == true)
    for other in Kind.allCases where other != kind {
      #expect(try await bench.accept(other, sent, redeemed: redeemed) == false, "\(other) after \(kind)")
    }
    if kind != .app {
      #expect(try await bench.appRefusal(sent) == "The request has ended.")
    }
    if kind != .uaf {
      #expect(try await bench.answer(redeemed).integer("statusCode") == 1408)
    }
    bench.server.clock.advance(by: 5)
    try Self.expect(try await bench.claims(client, asked.id), of: kind)
  }

  @Test("a client's request shows the requester and the whole message")
  func shows() async throws {
    let bench = try await Bench([.uaf, .app])
    let client = try await bench.register()
    #expect(
      try await bench.ask(
        client, [("login_hint", "alice"), ("binding_message", "W4SCT"), ("acr_values", Bench.anyACR)]
      ).outcome == "200")
    let sent = bench.sent()
    let text = "From: Example Bank\nMessage: W4SCT"
    #expect(try bench.message(sent).text == text)
    let redeemed = try await bench.redeem(sent)
    #expect(redeemed.transactions.map(\.content) == [Array(text.utf8)])
    #expect(try await bench.accept(.uaf, sent, redeemed: redeemed) == true)
  }

  @Test("a request to a user without a usable authenticator fails at once, for relying parties and clients")
  func nobody() async throws {
    let bench = try await Bench([])
    let client = try await bench.register()
    #expect(try await bench.ask(client).outcome == "403 access_denied")
    let refusal = try await #require(throws: Problem.self) { try await bench.create("Pay 10") }
    #expect(refusal.code == .noAuthenticator && refusal.code.status == 409)
    #expect(
      try await bench.server.storage.transactions(
        TransactionFilter(), before: nil, at: bench.server.clock.now, limit: 9
      ).isEmpty)
    #expect(try await bench.server.audit().contains { $0.contains("no authenticator that could answer") })
    // A scanned request needs no known authenticator.
    _ = try await bench.create("Pay 10", user: nil)

    // An app whose push service the server lacks cannot be asked.
    try await bench.enrol(service: "apns")
    #expect(try await bench.ask(client).outcome == "403 access_denied")
    // A client begins no UAF operation itself, so a key without a target does not suffice; a relying party may begin one.
    try await bench.server.register(bench.key)
    #expect(try await bench.ask(client).outcome == "403 access_denied")
    _ = try await bench.create("Pay 10")
    #expect(try await problem { try await bench.create("Zahl 10 \u{20AC}") } == .noAuthenticator)
    #expect(
      try await problem { try await bench.create("Pay 10", numberDigits: 2) } == .noAuthenticator)
    #expect(bench.sent().isEmpty)
  }

  @Test(
    "the default requirement is signed content, so apps with a shared key are not asked")
  func signedContent() async throws {
    let bench = try await Bench([.app])
    let client = try await bench.register()
    #expect(try await bench.ask(client, [("login_hint", "alice")]).outcome == "403 access_denied")
    #expect(try await problem { try await bench.make("Pay 10", requirements: []) } == .noAuthenticator)
    _ = try await bench.server.activate()
    _ = try await bench.make("Pay 10", requirements: [])
    #expect(try await bench.ask(client, [("login_hint", "alice")]).outcome == "200")
    #expect(bench.sent().isEmpty)
  }

  @Test("a transaction goes only to authenticators that can meet its requirement, and shows it")
  func required() async throws {
    let bench = try await Bench(Kind.allCases)
    let made = try await bench.make("Pay 10", requirements: ["urn:signet:acr:uaf"])
    let sent = bench.sent()
    #expect(sent.count == 1, "an operation, and no message")
    let shown = try await JSONObject(
      parsing: bench.server.send(.get, "//main/v1/transactions/\(made.record.id)", isOrdered: true).body)
    #expect(try shown.strings("requirements") == ["urn:signet:acr:uaf"])
    #expect(try await !bench.waitsForContainer())
    #expect(try await bench.accept(.uaf, sent) == true)
    for name in ["phr", "gold"] {
      let refusal = try await #require(throws: Problem.self) {
        try await bench.make("Pay 10", requirements: [name])
      }
      #expect(refusal.code == (name == "phr" ? .noAuthenticator : .malformed))
      #expect(refusal.detail.contains(name))
    }
  }

  @Test(
    "a required number has at least the required digits, and only containers are asked")
  func requiredNumber() async throws {
    var numbered = AuthenticationRequirement()
    numbered.numberDigits = 4
    for kinds in [Kind.allCases, [.app], [.uaf]] {
      let bench = try await Bench(kinds)
      var settings = bench.server.context.settings
      settings.requirements.own["numbered"] = numbered
      bench.server.context.apply(settings)
      guard kinds.contains(.container) else {
        #expect(
          try await problem { try await bench.make("Pay 10", requirements: ["numbered"]) } == .noAuthenticator
        )
        continue
      }
      for (asked, digits) in [(nil, 4), (2, 4), (6, 6)] {
        let made = try await bench.make("Pay 10", numberDigits: asked, requirements: ["numbered"])
        #expect(made.number?.digits.utf8.count == digits && made.record.numberDigits == digits)
        #expect(bench.sent().isEmpty)
        #expect(try await bench.waitsForContainer())
      }
      let either = try await bench.make("Pay 10", requirements: ["numbered", AuthenticatorBench.answered])
      #expect(either.number == nil && !bench.sent().isEmpty)
    }
  }

  @Test(
    "the app offers three numbers of equal length; a wrong choice denies", arguments: 2...6)
  func numbers(_ digits: Int) async throws {
    let bench = try await Bench([.uaf, .app])
    for isRight in [true, false] {
      let made = try await bench.make("Pay 10", numberDigits: digits)
      let right = try #require(made.number?.digits)
      let sent = bench.sent()
      #expect(sent.count == 1, "UAF signs no number, and is not asked")
      let message = try bench.message(sent)
      #expect(message.kind == .challenge && message.numbers.count == 3)
      #expect(message.numbers.map(String.init).allSatisfy { $0.utf8.count == digits })
      let number = try #require(message.numbers.map(String.init).first { ($0 == right) == isRight })
      let response = try await bench.post(.number(number), to: message)
      #expect(response.status == (isRight ? 200 : 400))
      let found = try #require(try await bench.server.storage.transaction(made.record.id))
      #expect(found.state == (isRight ? .accepted : .denied))
      #expect(found.end?.reason == (isRight ? nil : "wrongNumber"))
      #expect(try await bench.post(.number(right), to: message).status == 400)
    }
  }

  @Test("a denial by an app ends the transaction, and the relying party sees the app")
  func denies() async throws {
    let bench = try await Bench([.app])
    let made = try await bench.make("Pay 10")
    #expect(try await bench.post(.deny, to: bench.message(bench.sent())).status == 200)
    let shown = try await JSONObject(
      parsing: bench.server.send(
        .get, "//main/v1/transactions/\(made.record.id)", isOrdered: true
      ).body)
    #expect(try shown.string("status") == "denied" && shown["decision"] == nil && shown["end"] == nil)
    let mechanism = try #require(await bench.server.storage.pushAuthMechanisms(user: "alice").first).id
    #expect(
      try shown.object("app") == [
        "mechanism": .string(mechanism.text), "time": .integer(bench.server.clock.now),
      ])
    #expect(
      try await bench.server.audit().contains {
        $0.contains("pushauth.denied") && $0.contains(made.record.id.text)
      })
  }

  @Test("no tokens are issued if the answering key or app was removed", arguments: [Kind.uaf, .app])
  func removed(_ kind: Kind) async throws {
    let bench = try await Bench([kind])
    let client = try await bench.register()
    let asked = try await bench.ask(client)
    #expect(try await bench.accept(kind, bench.sent()) == true)
    let storage = bench.server.storage
    if kind == .uaf {
      #expect(
        try await storage.removeUAFCredentials(of: "alice", [UAFKeySelection()]) { _, _ in .sample() } == 1)
    } else {
      let mechanism = try #require(await storage.pushAuthMechanisms(user: "alice").first).id
      #expect(try await storage.removePushAuthMechanism(mechanism, audit: .sample()))
    }
    #expect(try await bench.poll(client, asked.id).outcome == "400 access_denied")
  }

  @Test("an acceptance by an app forged in the database is refused")
  func forgedRow() async throws {
    let bench = try await Bench([.app], on: .sqlite)
    let made = try await bench.make("Pay 10")
    let mechanism = try #require(await bench.server.storage.pushAuthMechanisms(user: "alice").first).id
    try bench.server.tamper(
      "UPDATE transactions SET state = 'accepted', app = ?, app_message = 'm', decided = 1",
      .text(mechanism.text))
    await #expect(throws: StorageFailure.altered(row: made.record.id.text, of: "transactions")) {
      try await bench.server.storage.transaction(made.record.id)
    }
  }

  @Test("nothing is sent to a locked device or one without a row", arguments: [false, true])
  func deviceWithoutRow(_ isGone: Bool) async throws {
    let bench = try await Bench([.uaf], on: .sqlite)
    if isGone {
      try bench.server.tamper("DELETE FROM devices")
    } else {
      let device = try #require(try await bench.server.storage.devices(user: "alice").first).id
      _ = try await DeviceService(bench.server.context).lock(device, reason: "", by: .local)
    }
    _ = try await bench.make("Pay 10")
    #expect(bench.sent().isEmpty)
  }

  @Test("a request to a user whose devices are all locked fails at once")
  func locked() async throws {
    let bench = try await Bench([.container])
    let client = try await bench.register()
    let device = try #require(try await bench.server.storage.devices(user: "alice").first).id
    let devices = DeviceService(bench.server.context)
    _ = try await devices.lock(device, reason: "", by: .local)
    #expect(try await bench.ask(client).outcome == "403 access_denied")
    #expect(try await problem { try await bench.create("Pay 10") } == .noAuthenticator)
    // A locked authenticator may still deny.
    let order = TransactionDraft(
      .text("Your password was changed"), from: "Shop", user: UserID("alice"), statuses: [.reported])
    _ = try await bench.transactions.create(order, by: .local)
    _ = try await devices.unlock(device, by: .local)
    #expect(try await bench.ask(client).outcome == "200")
    _ = try await bench.create("Pay 10")
  }

  @Test(
    "a request ends with the last authenticator that could answer it, and the requester is notified",
    arguments: Kind.allCases,
    [ClientRecord.Delivery.poll, .ping, .push])
  func lost(_ kind: Kind, _ delivery: ClientRecord.Delivery) async throws {
    let bench = try await Bench([kind])
    let storage = bench.server.storage
    let client = try await bench.register(delivery)
    let asked = try await bench.ask(client)
    let made = try await bench.make("Pay 10")
    let event = AuditRecord(.userAdded(user: "cause"), by: .local, at: bench.server.clock.now)
    switch kind {
    case .container:
      let device = try #require(try await storage.devices(user: "alice").first).id
      _ = try await DeviceService(bench.server.context).lock(device, reason: "", by: .local)
    case .uaf: _ = try await storage.removeUAFCredentials(of: "alice", [UAFKeySelection()]) { _, _ in event }
    case .app:
      let mechanism = try #require(await storage.pushAuthMechanisms(user: "alice").first).id
      _ = try await storage.removePushAuthMechanism(mechanism, audit: event)
    }
    let path = "//main/v1/transactions/\(made.record.id)"
    let shown = try await JSONObject(parsing: bench.server.send(.get, path, isOrdered: true).body)
    #expect(try shown.string("status") == "withdrawn")
    #expect(try shown.object("end").string("reason") == EndRecord.noAuthenticator)
    let ends = try await bench.server.audit().filter { $0.contains("transaction.withdrawn") }
    #expect(ends.count == 2 && ends.allSatisfy { $0.contains(EndRecord.noAuthenticator) })
    await bench.notices.sendDue()
    if delivery != .poll { await bench.callback.waitForRequests(1) }
    switch delivery {
    case .poll: #expect(try bench.callback.bodies().isEmpty)
    case .ping: #expect(try bench.callback.bodies() == [["auth_req_id": .string(asked.id)]])
    case .push:
      let told = try #require(try bench.callback.bodies().first)
      #expect(try told.string("error") == "access_denied")
      #expect(try told.string("auth_req_id") == asked.id)
      return
    }
    let answer = try await bench.poll(client, asked.id)
    #expect(try answer.outcome == "400 access_denied")
    #expect(
      try answer.body.string("error_description")
        == "The user no longer has an authenticator that can answer; start again.")
  }

  @Test("a request ends if the user's remaining authenticators cannot meet its requirement")
  func lostRequired() async throws {
    let bench = try await Bench([.container, .uaf])
    let uaf = try await bench.make("Pay 10", requirements: ["urn:signet:acr:uaf"])
    let any = try await bench.make("Pay 10")
    let storage = bench.server.storage
    _ = try await storage.removeUAFCredentials(of: "alice", [UAFKeySelection()]) { _, _ in .sample() }
    let found = try await storage.transaction(uaf.record.id)
    #expect(found?.state == .withdrawn && found?.end?.reason == EndRecord.noAuthenticator)
    #expect(try await storage.transaction(any.record.id)?.state == .pending)
  }

  @Test(
    "a pending request with an altered row cannot be decided", arguments: [Kind.uaf, .app],
    [
      "content = replace(content, 'Pay 10', 'Pay 99')", "user_id = 'bob'", "requirements = NULL",
      "requirements = 'urn:signet:acr:answered urn:signet:acr:signed'", "expires = expires + 1",
      "statuses = 'accepted'", "sealed_number = x'00'", "requester = 'key:other'",
      "sole_kind = 'otp'", "code = NULL",
    ])
  func changedRow(_ kind: Kind, _ change: String) async throws {
    let bench = try await Bench([kind], on: .sqlite)
    try await bench.server.users.add(UserID("bob"), by: .local)
    let names = [AuthenticatorBench.answered]
    let made = try await bench.make("Pay 10", requirements: names)
    let sent = bench.sent()
    let redeemed = kind == .uaf ? try await bench.redeem(sent) : nil
    try bench.server.tamper("UPDATE transactions SET \(change)")
    if let redeemed {
      #expect(try await bench.answer(redeemed).integer("statusCode") == 1500)
    } else {
      #expect(try await bench.post(.approve, to: bench.message(sent)).status == 500)
    }
    await #expect(throws: StorageFailure.altered(row: made.record.id.text, of: "transactions")) {
      try await bench.server.storage.transaction(made.record.id)
    }
  }

  @Test(
    "an acceptance by an app or a UAF key is checked against the requirement at that time",
    arguments: [Kind.uaf, .app])
  func tightened(_ kind: Kind) async throws {
    let bench = try await Bench([kind])
    var settings = bench.server.context.settings
    settings.requirements.own["staff"] = AuthenticationRequirement()
    bench.server.context.apply(settings)
    let made = try await bench.make("Pay 10", requirements: ["staff"])
    let sent = bench.sent()
    let redeemed = kind == .uaf ? try await bench.redeem(sent) : nil
    var requirement = AuthenticationRequirement()
    (requirement.keyProtection, requirement.needsSignedContent) = (.hardwareAttested, true)
    settings.requirements.own["staff"] = requirement
    bench.server.context.apply(settings)
    if let redeemed {
      #expect(try await bench.answer(redeemed).integer("statusCode") == 1492)
    } else {
      let answer = try await bench.post(.approve, to: bench.message(sent))
      #expect(answer.status == 400)
      #expect(try JSONObject(parsing: answer.body).string("message") == "An app cannot approve this request.")
      #expect(try await bench.server.storage.transaction(made.record.id)?.state == .pending)
      #expect(try await bench.post(.deny, to: bench.message(sent)).status == 200)
    }
    #expect(try await bench.server.storage.transaction(made.record.id)?.state != .accepted)
  }

  @Test("a transaction that no scanning device could answer is refused at once")
  func anybody() async throws {
    let bench = try await Bench([.container])
    for (name, isTaken) in [
      ("urn:signet:acr:signed", true), ("phr", false),
    ] {
      let order = TransactionDraft(.text("Pay 10"), from: "Shop", user: nil, requirements: [name])
      if isTaken {
        _ = try await bench.transactions.create(order, by: .local)
      } else {
        #expect(
          try await problem { _ = try await bench.transactions.create(order, by: .local) } == .noAuthenticator
        )
      }
    }
  }

  @Test("a container that cannot meet the requirement can only deny")
  func offeredANo() async throws {
    let bench = try await Bench([.container, .uaf])
    let made = try await bench.make("Pay 10", requirements: ["urn:signet:acr:uaf"])
    let own = try #require(await bench.server.storage.containers(user: "alice").first)
    #expect(try await bench.transactions.waiting(for: own.id)?.transactions == [])
    let device = try #require(bench.container)
    let id = [UInt8](repeating: 4, count: 16)
    let sealed = try await SealedTransactionList(
      decrypting: bench.transactions.one(made.record.id, for: own, request: id), with: device.encryption)
    let address = ListAddress(server: device.server, container: try #require(device.container), request: id)
    let list = try sealed.list(signedBy: #require(device.serverKey), for: address)
    let request = try #require(list.transactions.first)
    #expect(request.statuses == [.denied, .reported])
  }

  @Test("a push message that its service refuses is retried until the request has ended")
  func triesAgain() async throws {
    let bench = try await Bench([.app])
    bench.way.fail(.tryAgain(afterSeconds: 1, reason: "busy"), times: 2)
    _ = try await bench.make("Pay 10")
    #expect(bench.sent().count == 3)
  }
}

/// A server with UAF, a push service and a client, and alice's authenticators.
final class AuthenticatorBench: Sendable {
  /// The `acr` names of each kind of authenticator, the strongest first.
  static let anyACR = "urn:signet:acr:signed urn:signet:acr:uaf \(answered)"
  /// The requirement that any answer meets.
  static let answered = "urn:signet:acr:answered"

  /// The dispatched messages.
  typealias Sent = [(message: PushMessage, address: String)]

  /// A dispatcher that records pushes and sends none.
  final class Way: PushDispatcher {
    private struct Values: Sendable {
      var sent: Sent = []
      var failures: [PushFailure] = []
    }

    private let values = Mutex(Values())
    let service = PushTarget.Service.webhook

    func fail(_ failure: PushFailure, times count: Int) {
      values.withLock { $0.failures = Array(repeating: failure, count: count) }
    }

    func take() -> Sent {
      values.withLock { values in
        defer { values.sent = [] }
        return values.sent
      }
    }

    func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure) {
      guard case .webhook(let address) = target else { throw .targetNotAllowed }
      let failure = values.withLock { values in
        values.sent.append((message, address))
        return values.failures.popLast()
      }
      if let failure { throw failure }
    }
  }

  /// An app that speaks the protocol with the pure core.
  private struct App: Sendable {
    let key: PushAuthKey
    let endpoints: PushAuthEndpoints
  }

  let server: UAFServer
  let way: Way
  let key = UAFTestKey()
  let callback = CallbackEndpoint()
  let notices: OutboxSender
  private let sender: PushSender
  let transactions: TransactionService
  private let app = Mutex<App?>(nil)
  private let device: UAFTestDevice?
  let container: ProtocolDevice?

  private var context: ServiceContext { server.context }

  init(_ kinds: [AnyAuthenticatorTests.Kind], on backend: StorageBackend = .ofServices) async throws {
    let (way, clock) = (Way(), VirtualClock())
    let delivery = PushDelivery([way], clock: clock) { (duration) async throws(CancellationError) in
      clock.advance(by: duration.components.seconds)
    }
    self.way = way
    server = try await UAFServer(
      [key], clock: clock, push: PushSetup(delivery: delivery), notices: callback, on: backend)
    let sender = PushSender(server.context)
    self.sender = sender
    notices = try #require(OutboxSender(server.context))
    transactions = TransactionService(server.context) { sender.announce($0) }
    if kinds.contains(.uaf) {
      try await server.register(key)
      device = try await UAFTestDevice(on: server, dispatcher: "webhook")
    } else {
      device = nil
    }
    container = kinds.contains(.container) ? try await server.activate() : nil
    if kinds.contains(.app) { try await enrol(service: "webhook") }
  }

  /// Enrols an app that the named push service reaches.
  func enrol(service name: String) async throws {
    let made = try await PushAuthService(context).enrol(NewPushApp(["user": "alice"]), by: .local)
    let push = try #require(try AuthenticatorURI(made.uri).push)
    let key = try push.sharedSecret.withSecret { try PushAuthKey($0) }
    let endpoints = try PushAuthEndpoints(
      registration: push.registrationEndpoint, authentication: push.authenticationEndpoint)
    let registration = PushAuthRequest.registration(
      of: "app-\(made.id)", messageID: try #require(push.messageID), challenge: try #require(push.challenge),
      device: try PushAuthDevice(token: "AB01", name: "Phone", service: name), at: endpoints, cookie: nil,
      key: key)
    #expect(try await post(registration).status == 200)
    app.withLock { $0 = App(key: key, endpoints: endpoints) }
  }

  private func post(_ sent: PushAuthRequest) async throws -> ServerResponse {
    var request = ServerRequest(
      method: "POST", path: try RequestPath(raw: "/main/v1/pushauth"), body: sent.body.bytes)
    request.query = try QueryParameters(raw: "_action=\(sent.action.rawValue)")
    return await PushAuthService(context).take(request)
  }

  // MARK: Relying parties and clients

  func create(_ text: String, user: String? = "alice", numberDigits: Int? = nil) async throws {
    _ = try await make(text, user: user, numberDigits: numberDigits)
  }

  func make(
    _ text: String, user: String? = "alice", numberDigits: Int? = nil,
    requirements: [String] = [AuthenticatorBench.answered]
  ) async throws -> TransactionService.NewTransaction {
    let made = try await transactions.create(
      TransactionDraft(
        .text(text), from: "Shop", user: try user.map { try UserID($0) }, numberDigits: numberDigits,
        requirements: requirements),
      by: .local)
    await sender.finish()
    return made
  }

  func register(_ delivery: ClientRecord.Delivery = .poll) async throws -> TestClient {
    let key = P256.Signing.PrivateKey()
    var body: JSONObject = [
      "name": "Example Bank", "authentication": "private_key_jwt", "delivery": .string(delivery.rawValue),
      "jwks": ["keys": [.object(try JWK(key.publicKey, keyID: "k1").publicObject())]],
    ]
    if delivery != .poll { body["notificationEndpoint"] = "https://client.example.org/cb" }
    let made = try await ClientService(context).add(ClientRegistration(NewClient(body)), by: .local)
    return TestClient(
      id: made.record.id, secret: nil, key: key, issuer: context.settings.serverURL.fullForm)
  }

  func ask(
    _ client: TestClient, _ more: [(String, String)] = [("login_hint", "alice"), ("acr_values", anyACR)]
  ) async throws -> OpenIDAnswer {
    let answer = try await post(
      "authenticate",
      client.proof(at: server.clock.now) + [("scope", "openid"), ("client_notification_token", "n-0")] + more)
    await sender.finish()
    return answer
  }

  func poll(_ client: TestClient, _ id: String) async throws -> OpenIDAnswer {
    try await post(
      "token",
      client.proof(at: server.clock.now) + [("grant_type", OpenIDFixture.grant), ("auth_req_id", id)])
  }

  private func post(_ id: String, _ parameters: [(String, String)]) async throws -> OpenIDAnswer {
    let route = try #require(OpenIDEndpoints(context, transactions).routes.first { $0.endpoint.id == id })
    let request = ServerRequest(
      method: "POST", path: try RequestPath(raw: "/main/oidc"),
      headers: ["Content-Type": "application/x-www-form-urlencoded"],
      body: Array(OpenIDFixture.form(parameters).utf8))
    let response = await route.response(to: request, CallerAuthentication(context))
    return try OpenIDAnswer(#require(response))
  }

  /// The verified claims of the ID token.
  func claims(_ client: TestClient, _ id: String) async throws -> JSONObject {
    let answer = try await poll(client, id)
    try #require(answer.status == 200, "\(answer.body.text)")
    let keys = VerificationKeySet(try JWKSet(try await SigningKeyService(context).published().json))
    let subject = try await context.storage.user("alice")?.subject
    return try JWS(compact: answer.body.string("id_token")).verified(with: keys, allowing: [.es256]).claims(
      JWTValidation(issuer: client.issuer, subject: subject, audiences: [client.id.text], type: "JWT"),
      now: server.clock.now
    ).all
  }

  // MARK: Authenticators

  /// Returns the messages dispatched since the last call.
  func sent() -> Sent { way.take() }

  /// Accepts alice's last request with an authenticator; returns whether the server accepted the answer.
  func accept(
    _ kind: AnyAuthenticatorTests.Kind, _ sent: Sent, redeemed: AuthenticationRequest? = nil
  ) async throws -> Bool {
    switch kind {
    case .app: return try await post(.approve, to: message(sent)).status == 200
    case .uaf:
      let request = if let redeemed { redeemed } else { try await redeem(sent) }
      return try await answer(request).integer("statusCode") == 1200
    case .container:
      let all = try await server.storage.transactions(
        TransactionFilter(user: "alice"), before: nil, at: server.clock.now, limit: 1)
      let (record, container) = (try #require(all.first), try #require(container))
      let request = TransactionRequest(
        id: record.id, content: try TransactionContent(parsing: record.content),
        created: record.created, expires: record.expires,
        statuses: record.statuses.compactMap { DecisionStatus(rawValue: $0.rawValue) })
      let name = try #require(container.container)
      let own = try #require(await server.storage.container(name))
      do {
        let body = try await container.decision(.accepted, request, at: server.clock.now)
        _ = try await transactions.decide(body, id: record.id, by: own)
        return true
      } catch let problem as Problem {
        #expect(problem.code == .transactionDecided)
        return false
      }
    }
  }

  /// Returns whether the container has pending transactions.
  func waitsForContainer() async throws -> Bool {
    let container = try #require(await server.storage.containers(user: "alice").first)
    return try #require(await transactions.waiting(for: container.id)).transactions != []
  }

  /// The message to the app.
  func message(_ sent: Sent) throws -> PushAuthMessage {
    let app = try #require(app.withLock { $0 })
    let push = try #require(sent.last { $0.address == "AB01" }).message
    return try PushAuthDelivery(
      messageID: #require(push.data["messageId"]), token: #require(push.data["message"])
    ).verified(with: app.key)
  }

  func post(_ answer: PushAuthAnswer, to message: PushAuthMessage) async throws -> ServerResponse {
    let app = try #require(app.withLock { $0 })
    return try await post(
      PushAuthRequest.answer(answer, to: message, at: app.endpoints, key: app.key))
  }

  /// The rejection of the app's approval.
  func appRefusal(_ sent: Sent) async throws -> String {
    let response = try await post(.approve, to: message(sent))
    #expect(response.status == 400)
    return try JSONObject(parsing: response.body).string("message")
  }

  /// Redeems the token that was sent to the UAF device and returns its request.
  func redeem(_ sent: Sent) async throws -> AuthenticationRequest {
    let push = try #require(sent.last { $0.address == "address:1" }).message
    let opened = try #require(device).opened([
      "nma_data": .string(push.envelope), "nma_data_content_type": "application/jose",
      "nma_data_version": "1",
    ])
    let redeemed = try await server.json(
      "/token/redeem/authentication", ["token": .string(try opened.string("token"))], isOrdered: false)
    try #require(try redeemed.integer("statusCode") == 1200, "\(redeemed.text)")
    return try AuthenticationRequest(parsing: Array(redeemed.string("uafRequest").utf8), versions: [.v1_1])
  }

  /// Answers a request with the UAF key.
  func answer(_ request: AuthenticationRequest) async throws -> JSONObject {
    var used = key
    used.signCounter = 2
    return try await server.uaf(
      "/uaf/1.1/authentication", ["uafResponse": .string(try UAFServer.answer(request, used))])
  }
}
