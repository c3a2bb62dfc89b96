import PostgreSQLFixture
import SignetHTTPClient
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetSQLite
import SignetStorage
import SignetTesting
import Testing

/// Notifications to clients, and their retries (CIBA sections 10.2, 10.3 and 12).
@Suite(.timeLimit(.minutes(10))) struct OpenIDNoticeTests {
  @Test("ping: the client is notified once and fetches the result")
  func pings() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.ping)
    let id = try await fixture.ask(client).id
    await fixture.sender.sendDue()
    #expect(fixture.callback.requests.isEmpty)
    #expect(try await fixture.poll(client, id).outcome == "400 authorization_pending")
    try await fixture.decide(.accepted)
    for _ in 0..<2 { await fixture.sender.sendDue() }
    let request = try #require(fixture.callback.requests.first)
    #expect(fixture.callback.requests.count == 1)
    #expect(request.method == .post && request.url == "https://client.example.org/cb")
    let headers = Dictionary(uniqueKeysWithValues: request.headers)
    #expect(headers["Authorization"] == "Bearer n-0.token~+/==")
    #expect(headers["Content-Type"] == "application/json")
    #expect(try fixture.callback.bodies() == [["auth_req_id": .string(id)]])
    #expect(try await fixture.poll(client, id).outcome == "200")
    #expect(try await fixture.server.audit().count { $0.contains("client.told") } == 1)
  }

  @Test("push: the client is given the tokens, bound to the request")
  func pushes() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.push)
    let id = try await fixture.ask(client).id
    try await fixture.decide(.accepted)
    await fixture.sender.sendDue()
    let body = try #require(try fixture.callback.bodies().first)
    #expect(try body.string("auth_req_id") == id && body.string("token_type") == "Bearer")
    let claims = try Self.claims(body.string("id_token"))
    #expect(try claims.string("urn:openid:params:jwt:claim:auth_req_id") == id)
    #expect(try claims.string("at_hash") == IDTokenSigner.hash(of: body.string("access_token")))
    #expect(try await fixture.poll(client, id).outcome == "400 unauthorized_client")
    let written = try await fixture.server.audit().joined() + fixture.server.capture.lines.joined()
    #expect(!written.contains("n-0.token") && !written.contains(id))
  }

  private static func claims(_ jws: String) throws -> JSONObject {
    try JSONObject(parsing: JWS(compact: jws).unverifiedPayload)
  }

  @Test("push: each other outcome is an error with its code")
  func pushesErrors() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.push)
    let transactions = fixture.server.transactions
    func end(_ body: (TransactionID) async throws -> Void) async throws {
      _ = try await fixture.ask(client)
      let waiting = try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now)
      try await body(try #require(waiting.last).id)
      await fixture.sender.sendDue()
      try await fixture.server.codes.unlock(UserID("alice"), by: .local)
    }
    try await end { _ in try await fixture.decide(.denied) }
    try await end { id in try await transactions.withdraw(id, reason: "", by: .local) }
    try await end { _ in
      fixture.server.clock.advance(by: 300)
      try await fixture.sweep()
    }
    let bodies = try fixture.callback.bodies()
    #expect(
      try bodies.map { try $0.string("error") } == ["access_denied", "transaction_failed", "expired_token"])
    #expect(bodies.allSatisfy { $0.contains("auth_req_id") && !$0.contains("id_token") })
  }

  @Test("ping: an expiry is not notified")
  func pingsNoExpiry() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.ping)
    _ = try await fixture.ask(client)
    fixture.server.clock.advance(by: 300)
    try await fixture.sweep()
    await fixture.sender.sendDue()
    #expect(fixture.callback.requests.isEmpty)
    #expect(try await fixture.due().isEmpty)
  }

  @Test("temporary failures are retried with the same tokens, at growing intervals")
  func triesAgain() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.push)
    _ = try await fixture.ask(client)
    try await fixture.decide(.accepted)
    fixture.callback.answer(
      .failure(.unreachable(code: 7)), .success(HTTPResponse(status: 503)),
      .success(HTTPResponse(status: 429, headers: [("Retry-After", "20")])), .failure(.timedOut))
    var waits: [Int64] = []
    while fixture.callback.requests.count < 5 {
      let before = fixture.callback.requests.count
      await fixture.sender.sendDue()
      guard fixture.callback.requests.count == before else {
        waits.append(0)
        continue
      }
      waits[waits.count - 1] += 1
      fixture.server.clock.advance(by: 1)
    }
    #expect(waits == [1, 2, 20, 8, 0])
    let bodies = try fixture.callback.bodies()
    let claims = try bodies.map { try Self.claims($0.string("access_token")) }
    #expect(Set(claims).count == 1)
    #expect(try bodies.map { try $0.integer("expires_in") } == [300, 299, 297, 277, 269])
    for _ in 0..<40 {
      fixture.server.clock.advance(by: 10)
      await fixture.sender.sendDue()
    }
    #expect(fixture.callback.requests.count == 5)
    #expect(try await fixture.server.audit().count { $0.contains("tokens.issued") } == 1)
  }

  @Test("undelivered tokens are not resent after the user is suspended, which is logged")
  func sendsNothingAgain() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.push)
    _ = try await fixture.ask(client)
    try await fixture.decide(.accepted)
    fixture.callback.answer(.success(HTTPResponse(status: 503)))
    await fixture.sender.sendDue()
    #expect(fixture.callback.requests.count == 1)
    _ = try await fixture.server.users.suspend(UserID("alice"), reason: "", by: .local)
    fixture.server.clock.advance(by: 10)
    await fixture.sender.sendDue()
    #expect(fixture.callback.requests.count == 1)
    #expect(try await fixture.due().isEmpty)
    #expect(try await fixture.server.audit().contains { $0.contains("client.notTold") })
  }

  @Test(
    "permanent failures end the delivery: other statuses, redirects, and five minutes",
    arguments: [
      Result<HTTPResponse, TransportFailure>.success(
        HTTPResponse(status: 400, body: Array("inside-4711".utf8))),
      .success(
        HTTPResponse(
          status: 404, headers: [("Server", "inside-4711")], body: Array(#"{"error":"inside-4711"}"#.utf8))),
      .failure(.redirectRefused(status: 307)), .failure(.insecureURL),
    ])
  func givesUp(_ answer: Result<HTTPResponse, TransportFailure>) async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.push)
    _ = try await fixture.ask(client)
    try await fixture.decide(.accepted)
    fixture.callback.answer(answer)
    await fixture.sender.sendDue()
    #expect(fixture.callback.requests.count == 1)
    #expect(try await fixture.due().isEmpty)
    #expect(try await fixture.server.audit().contains { $0.contains("client.notTold") })
    // The answer from behind a client's registered address is recorded nowhere, since it may come from an internal service.
    let written = try await fixture.server.audit().joined() + fixture.server.capture.lines.joined()
    #expect(!written.contains("inside-4711"))
  }

  @Test func givesUpInTheEnd() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.push)
    _ = try await fixture.ask(client)
    try await fixture.decide(.accepted)
    let start = fixture.now
    while try await !fixture.due().isEmpty {
      fixture.callback.answer(.failure(.timedOut))
      await fixture.sender.sendDue()
      fixture.server.clock.advance(by: 1)
    }
    #expect(
      (BackchannelRecord.noticeLifetime - 32...BackchannelRecord.noticeLifetime + 2).contains(
        fixture.now - start))
    #expect(try await fixture.server.audit().count { $0.contains("client.notTold") } == 1)
  }

  @Test("after a process dies another delivers the notice; a late one changes nothing")
  func survivesADeath() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.ping)
    let id = try await fixture.ask(client).id
    try await fixture.decide(.accepted)
    let storage = fixture.server.storage
    let due = try #require(try await fixture.due(at: fixture.now).first)
    let end = fixture.now + OutboxSender.lease
    let leased = try #require(try await storage.leaseDelivery(due, until: end))
    await fixture.sender.sendDue()
    #expect(fixture.callback.requests.isEmpty)
    fixture.server.clock.set(end)
    await fixture.sender.sendDue()
    #expect(try fixture.callback.bodies() == [["auth_req_id": .string(id)]])
    #expect(try await !storage.endDelivery(leased, next: 1, audit: nil))
    await fixture.sender.sendDue()
    #expect(fixture.callback.requests.count == 1)
  }

  @Test("one of ten processes notifies a client")
  func oneProcessTells() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.push)
    _ = try await fixture.ask(client)
    try await fixture.decide(.accepted)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<10 {
        group.addTask { await OutboxSender(fixture.server.context)?.sendDue() }
      }
    }
    #expect(fixture.callback.requests.count == 1)
  }

  @Test("a revoked client gets no notice and no tokens")
  func forgetsTheRevoked() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.push)
    _ = try await fixture.ask(client)
    let late = try await fixture.register(.push)
    _ = try await fixture.ask(late)
    for _ in 0..<2 { try await fixture.decide(.accepted) }
    #expect(try await fixture.due(at: fixture.now).count == 2)
    let asked = try #require(try await fixture.due().first { $0.receiver.id == client.id.text }).event.subject
    try await ClientService(fixture.server.context).revoke(client.id, by: .local)
    #expect(try await fixture.due(at: fixture.now).map(\.receiver.id) == [late.id.text])
    let storage = fixture.server.storage
    let digest = try #require(try await storage.backchannelRequest(ofTransaction: "\(asked)")).digest
    let event = AuditRecord.sample()
    #expect(
      try await !storage.issueTokens(
        for: digest, of: client.id, at: fixture.now, pushedWithin: 300, audit: event))
    await fixture.sender.sendDue()
    #expect(fixture.callback.requests.count == 1)
  }

  @Test("an unresponsive client delays no other and occupies one place")
  func isFair() async throws {
    let fixture = try await OpenIDFixture {
      $0.challengeLimits.pending = 64; $0.challengeLimits.challenges = 64
    }
    let url = "https://silent.example/cb"
    let silent = try await fixture.register(.push, .privateKeyJWT, ["notificationEndpoint": .string(url)])
    for _ in 0..<6 { _ = try await fixture.ask(silent) }
    let other = try await fixture.register(.push)
    _ = try await fixture.ask(other)
    for _ in 0..<7 { try await fixture.decide(.accepted) }
    fixture.callback.hold(url)
    let round = Task { await fixture.sender.sendDue() }
    await fixture.callback.waitForRequests(5)
    #expect(fixture.callback.requests.count { $0.url == url } == 4)
    // Deliveries in progress use all slots of the one client; the other has separate ones.
    _ = try await fixture.ask(other)
    try await fixture.decide(.accepted)
    let next = Task { await fixture.sender.sendDue() }
    await fixture.callback.waitForRequests(6)
    #expect(fixture.callback.requests.count { $0.url != url } == 2)
    fixture.callback.release(.failure(.timedOut))
    await round.value
    await next.value
    // One of the due notifications is tried.
    fixture.callback.hold(url)
    let again = Task { await fixture.sender.sendDue() }
    await fixture.callback.waitForRequests(7)
    #expect(fixture.callback.requests.count { $0.url == url } == 5)
    fixture.callback.release(.success(HTTPResponse(status: 204)))
    await again.value
    for _ in 0..<8 {
      fixture.server.clock.advance(by: 2)
      await fixture.sender.sendDue()
    }
    #expect(try await fixture.due().isEmpty)
    #expect(try await fixture.server.audit().count { $0.contains("client.told") } == 8)
  }

  @Test("push: if the container is revoked while tokens are issued, the client is notified of the failure")
  func tellsWhatChangedMeanwhile() async throws {
    var errors: [String?] = []
    for step in 1...30 {
      let (fixture, interruption) = (try await OpenIDFixture(on: .sqlite), StepInterruption())
      _ = try await fixture.ask(fixture.register(.push))
      try await fixture.decide(.accepted)
      let sender = try #require(OutboxSender(fixture.server.context(suffering: interruption.faults)))
      let (path, callback) = ("\(fixture.server.folder.path)/signet.sqlite", fixture.callback)
      interruption.arm(before: step) {
        callback.requests.isEmpty
      } _: {
        let database = try Database(path: path, mode: .readWrite)
        try database.execute("PRAGMA foreign_keys = OFF")
        try database.execute("DELETE FROM containers")
      }
      await sender.sendDue()
      guard let wasUntold = interruption.disarm() else { break }
      fixture.server.clock.advance(by: 1)
      await sender.sendDue()
      let bodies = try callback.bodies()
      #expect(bodies.count == 1, "before step \(step)")
      if wasUntold { errors.append(try bodies.first?.optionalString("error")) }
    }
    #expect(errors.count > 5 && Set(errors) == ["access_denied"], "\(errors)")
  }

  @Test("an overdue notice is never sent")
  func isNeverLate() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.push)
    _ = try await fixture.ask(client)
    try await fixture.decide(.accepted)
    fixture.server.clock.advance(by: BackchannelRecord.noticeLifetime + 1)
    await fixture.sender.sendDue()
    #expect(fixture.callback.requests.isEmpty)
    let audit = try await fixture.server.audit()
    #expect(audit.count { $0.contains("client.notTold") } == 1 && !audit.joined().contains("tokens.issued"))
  }
}
