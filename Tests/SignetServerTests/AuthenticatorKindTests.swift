import SignetHTTPClient
import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetPushAuth
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Testing

/// Transactions for one kind of authenticator only, by a message to an app or a UAF operation of the requester.
@Suite(.timeLimit(.minutes(10))) struct AuthenticatorKindTests {
  private static func send(
    _ bench: AuthenticatorBench, _ more: JSONObject = [:], by actor: AuditActor = .local
  ) async throws -> SentPushAuthMessage {
    var form: JSONObject = ["user": "alice"]
    for (name, value) in more.members { form[name] = value }
    return try await PushAuthService(bench.server.context).send(
      NewPushMessage(form), from: "Shop", by: actor)
  }

  private static func shown(_ id: TransactionID, _ bench: AuthenticatorBench) async throws -> JSONObject {
    try await JSONObject(
      parsing: bench.server.send(.get, "//main/v1/transactions/\(id)", isOrdered: true).body)
  }

  @Test(
    "the answer to a message has valid evidence, with a text and without",
    arguments: [nil, "Log in?"], [PushAuthAnswer.approve, .deny])
  func evidence(_ text: String?, _ answer: PushAuthAnswer) async throws {
    let bench = try await AuthenticatorBench([.app])
    let sent = try await Self.send(bench, text.map { ["text": .string($0)] } ?? [:])
    let id = sent.record.transaction
    #expect(try await bench.post(answer, to: bench.message(bench.sent())).status == 200)
    let object = try await Self.shown(id, bench)
    let key = try #require(try await EvidenceCheck.SharedKey(ofTransaction: id, bench.server.context))
    let check = try EvidenceCheck(object.text, sharedKey: key)
    #expect(check.kind == .app && check.status == (answer == .deny ? .denied : .accepted))
    #expect(check.transaction == id.text && check.user == "alice" && check.shown == text)
    #expect(try object.string("soleKind") == "push-app")
    #expect(try object.object("app").string("mechanism") == sent.record.mechanism.text)
    let content = try TransactionContent(parsing: object.string("content"))
    #expect(content.body == text.map { .text($0) } ?? .signIn)
    #expect(content.origin == .relyingParty("Shop"))
  }

  @Test("the evidence of one message is invalid for another with the same text")
  func evidenceOfAnother() async throws {
    let bench = try await AuthenticatorBench([.app])
    var (objects, keys): ([JSONObject], [EvidenceCheck.SharedKey?]) = ([], [])
    for _ in 0..<2 {
      let id = try await Self.send(bench, ["text": "Log in?"]).record.transaction
      #expect(try await bench.post(.approve, to: bench.message(bench.sent())).status == 200)
      objects.append(try await Self.shown(id, bench))
      keys.append(try await EvidenceCheck.SharedKey(ofTransaction: id, bench.server.context))
    }
    for (object, key) in zip(objects, keys) { _ = try EvidenceCheck(object.text, sharedKey: key) }
    var whole = objects[1]
    whole["evidence"] = objects[0]["evidence"]
    #expect(throws: EvidenceCheck.Failure.altered(member: "id")) {
      try EvidenceCheck(whole.text, sharedKey: keys[1])
    }
    let first = try objects[0].object("evidence")
    var signed = try objects[1].object("evidence")
    (signed["message"], signed["answer"]) = (first["message"], first["answer"])
    var parts = objects[1]
    parts["evidence"] = .object(signed)
    #expect(throws: EvidenceCheck.Failure.altered(member: "message")) {
      try EvidenceCheck(parts.text, sharedKey: keys[1])
    }
  }

  @Test("a requested number is in the evidence, and a wrong one denies the transaction")
  func numbers() async throws {
    for isRight in [true, false] {
      let bench = try await AuthenticatorBench([.app])
      let sent = try await Self.send(bench, ["kind": "challenge", "text": "Log in?"])
      let right = try #require(sent.number)
      let message = try bench.message(bench.sent())
      #expect(message.kind == .challenge && message.numbers.count == 3 && (10...99).contains(right))
      let number = try #require(message.numbers.first { ($0 == right) == isRight })
      #expect(try await bench.post(.number("\(number)"), to: message).status == (isRight ? 200 : 400))
      let id = sent.record.transaction
      let key = try #require(try await EvidenceCheck.SharedKey(ofTransaction: id, bench.server.context))
      let check = try EvidenceCheck(await Self.shown(id, bench).text, sharedKey: key)
      #expect(check.status == (isRight ? .accepted : .denied))
    }
  }

  @Test("a request by message is not visible to other authenticators, which cannot answer it")
  func appAlone() async throws {
    let bench = try await AuthenticatorBench(AnyAuthenticatorTests.Kind.allCases)
    let id = try await Self.send(bench, ["text": "Pay 10"]).record.transaction
    let sent = bench.sent()
    #expect(sent.count == 1, "a message, and no operation")
    #expect(try await !bench.waitsForContainer())
    #expect(try await problem { try await Self.decide(id, bench) } == .unknown)
    let own = try #require(await bench.server.storage.containers(user: "alice").first)
    let request = [UInt8](repeating: 4, count: 16)
    #expect(
      try await problem { _ = try await bench.transactions.one(id, for: own, request: request) } == .unknown)
    for refused in [
      try await problem { _ = try await bench.transactions.offline(id) },
      try await problem { _ = try await bench.transactions.typed(id) },
      try await problem {
        try await bench.transactions.answer(.scanned("12345678"), to: id, by: .init(.local))
      },
    ] {
      #expect(refused == .malformed)
    }
    let byUAF = try await bench.server.uaf(
      "/uaf/1.1/request/authentication",
      ["op": "Auth", "context": .string(#"{"username":"alice","transactionId":"\#(id)"}"#)],
      isOrdered: true)
    #expect(try byUAF.integer("statusCode") != 1200)
    #expect(try await bench.accept(.app, sent) == true)
    #expect(try await bench.server.storage.transaction(id)?.state == .accepted)
  }

  @Test("a text confirmed by UAF for a relying party is in no container's list")
  func uafAlone() async throws {
    let bench = try await AuthenticatorBench([.container, .uaf])
    let asked = try await bench.server.uaf(
      "/uaf/1.1/request/authentication",
      ["op": "Auth", "context": #"{"username":"alice","transaction":"Pay 10"}"#], isOrdered: true)
    #expect(try asked.integer("statusCode") == 1200)
    let found = try await bench.transactions.list(TransactionFilter(user: "alice"), before: nil, limit: 9)
    let id = try #require(found.first).id
    #expect(found.count == 1 && found.first?.soleKind == .uaf)
    #expect(try await !bench.waitsForContainer())
    #expect(try await problem { try await Self.decide(id, bench) } == .unknown)
  }

  @Test("a failed dispatch to a UAF device leaves no transaction")
  func notSent() async throws {
    let bench = try await AuthenticatorBench([.uaf])
    let body: JSONObject = [
      "dispatchTargetId": "none",
      "getUafRequest": ["op": "Auth", "context": #"{"username":"alice","transaction":"Pay 10"}"#],
    ]
    let answer = try await JSONObject(
      parsing: bench.server.send(
        .post, "/token/dispatch/authentication", body.bytes, [("Content-Type", "application/json")],
        isOrdered: true
      ).body)
    #expect(try answer.string("dispatchResult") == "dispatchTargetNotFound")
    let found = try await bench.transactions.list(TransactionFilter(user: "alice"), before: nil, limit: 9)
    #expect(found.isEmpty)
  }

  /// Decides a transaction with alice's container.
  private static func decide(_ id: TransactionID, _ bench: AuthenticatorBench) async throws {
    let record = try #require(await bench.server.storage.transaction(id))
    let container = try #require(bench.container)
    let request = TransactionRequest(
      id: record.id, content: try TransactionContent(parsing: record.content),
      created: record.created, expires: record.expires,
      statuses: record.statuses.compactMap { DecisionStatus(rawValue: $0.rawValue) })
    let own = try #require(await bench.server.storage.containers(user: "alice").first)
    let body = try await container.decision(.denied, request, at: bench.server.clock.now)
    _ = try await bench.transactions.decide(body, id: record.id, by: own)
  }

  @Test("a message is in the lists of transactions and open requests once, and ends with its app")
  func listed() async throws {
    let bench = try await AuthenticatorBench([.container, .app])
    let (storage, now) = (bench.server.storage, bench.server.clock.now)
    let sent = try await Self.send(bench, ["text": "Log in?"])
    let id = sent.record.transaction
    let listed = try await bench.transactions.list(TransactionFilter(user: "alice"), before: nil, limit: 9)
    #expect(listed.map(\.id) == [id])
    let open = try await storage.openRequests(to: "alice", at: now, limit: 9)
    #expect(open.map(\.id) == [id.text] && open.first?.content?.contains("Log in?") == true)
    let event = bench.server.context.audit(by: .local)(.pushAuthRemoved(mechanism: sent.record.mechanism))
    #expect(try await storage.removePushAuthMechanism(sent.record.mechanism, audit: event))
    let ended = try await storage.transaction(id)
    #expect(ended?.state == .withdrawn && ended?.end?.reason == EndRecord.noAuthenticator)
    #expect(try await storage.openRequests(to: "alice", at: now, limit: 9).isEmpty)
  }

  @Test("a message withdrawn by its relying party cannot be answered")
  func withdrawn() async throws {
    let bench = try await AuthenticatorBench([.app])
    let sent = try await Self.send(bench)
    try await bench.transactions.withdraw(sent.record.transaction, reason: "", by: .local)
    #expect(try await bench.appRefusal(bench.sent()) == "The request has ended.")
    let service = PushAuthService(bench.server.context)
    #expect(try await service.message(sent.record.id).state == .expired)
    let (message, status) = try await service.messageStatus(of: sent.record.id)
    #expect(status == "withdrawn" && message.expires > bench.server.clock.now && message.answered == nil)
  }

  @Test("300 messages of many requesters share one budget")
  func budget() async throws {
    let bench = try await AuthenticatorBench([.app])
    var (made, refused) = (0, 0)
    for number in 0..<300 {
      do {
        _ = try await Self.send(bench, by: .key("k\(number % 30)"))
        made += 1
      } catch let problem as Problem {
        #expect(problem.code == .transactionTooMany)
        refused += 1
      }
    }
    let limit = bench.server.context.settings.challengeLimits.pending
    #expect(made == limit && refused == 300 - limit)
    let waiting = try await bench.server.storage.openRequests(
      to: "alice", at: bench.server.clock.now, limit: 300)
    #expect(waiting.count == limit)
  }
}
