import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Testing

/// Transactions to any user, transactions that a device begins, and answers without a network.
@Suite(.timeLimit(.minutes(10))) struct CarriedTransactionServiceTests {
  private func one(
    _ server: ServerFixture, _ id: TransactionID, _ device: ProtocolDevice
  ) async throws -> TransactionRequest {
    let request = [UInt8](repeating: 4, count: 16)
    let sealed = try await SealedTransactionList(
      decrypting: server.transactions.one(id, for: device.send(to: server), request: request),
      with: device.encryption)
    let address = ListAddress(
      server: device.server, container: try #require(device.container), request: request)
    let list = try sealed.list(signedBy: #require(device.serverKey), for: address)
    return try #require(list.transactions.first)
  }

  private func decide(
    _ server: ServerFixture, _ device: ProtocolDevice, _ request: TransactionRequest
  ) async throws -> Problem.Code? {
    let record = try await device.send(to: server)
    let body = try await device.decision(.accepted, request, at: server.clock.now)
    return try await problem {
      try await server.transactions.decide(body, id: request.id, by: record)
    }
  }

  @Test("a transaction without a user gets the one user who decides it")
  func anybody() async throws {
    let server = try ServerFixture()
    let (alices, bobs) = (try await server.activate("alice"), try await server.activate("bob", device: 2))
    let order = TransactionDraft(.text("Sign in"), from: "Bank", user: nil)
    let made = try await server.transactions.create(order, by: .local).record
    #expect(made.user == nil)
    let requests = [try await one(server, made.id, alices), try await one(server, made.id, bobs)]
    #expect(requests[0] == requests[1])
    #expect(try await decide(server, bobs, requests[1]) == nil)
    #expect(try await decide(server, alices, requests[0]) == .unknown)
    let (found, container) = try await server.transactions.find(made.id)
    #expect(found.user == "bob" && found.state == .accepted && container?.id == bobs.container)
    #expect(try await problem { try await one(server, made.id, alices) } == .unknown)
    #expect(try await problem { try await one(server, made.id, bobs) } == .transactionDecided)
    #expect(try await problem { try await one(server, "none", bobs) } == .unknown)
    let late = try await server.transactions.create(order, by: .local).record
    server.clock.advance(by: 300)
    #expect(try await problem { try await one(server, late.id, bobs) } == .transactionExpired)
    // Bob cannot read alice's transaction.
    let alices1 = try await server.transactions.create(
      "Pay", user: UserID("alice"), lifetime: nil, by: .local)
    #expect(try await problem { try await one(server, alices1.id, bobs) } == .unknown)
  }

  private func initiated(
    _ device: ProtocolDevice, _ server: ServerFixture, id: TransactionID = "own-1",
    origin: TransactionContent.Origin = .device,
    lifetime: Int64 = 300, status: DecisionStatus = .accepted, signedBy key: P256.Signing.PrivateKey? = nil
  ) async throws -> [UInt8] {
    let now = server.clock.now
    let request = TransactionRequest(
      id: id, content: try TransactionContent(.text("Block my card"), from: origin),
      created: now, expires: now + lifetime)
    return try await device.decision(status, request, at: now, signedBy: key)
  }

  @Test("a text signed unasked is stored once, and listed for the relying party in order")
  func initiated() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let record = try await device.send(to: server)
    func send(_ body: [UInt8]) async throws -> Problem.Code? {
      try await problem { try await server.transactions.initiate(body, by: record) }
    }
    let body = try await initiated(device, server)
    #expect(try await send(body) == nil)
    #expect(try await send(body) == nil)
    #expect(try await send(initiated(device, server, id: "own-2")) == nil)
    let user = UserID("alice")
    let all = try await server.transactions.initiated(by: user, after: nil, limit: 10)
    #expect(all.map(\.0.id) == ["own-1", "own-2"])
    #expect(all.allSatisfy { $0.0.state == .accepted && $0.0.isInitiatedByDevice })
    let jws = try #require(all.first?.0.decision?.jws)
    #expect(Decision(verifying: jws, signedBy: device.signing.publicKey)?.transaction.text == "own-1")
    let rest = try await server.transactions.initiated(by: user, after: "own-1", limit: 10)
    #expect(rest.map(\.0.id) == ["own-2"])
    let bob: UserID = "bob"
    #expect(
      try await problem { _ = try await server.transactions.initiated(by: bob, after: nil, limit: 10) }
        == .unknown)
    try await server.users.add(bob, by: .local)
    #expect(try await server.transactions.initiated(by: bob, after: nil, limit: 10).isEmpty)
    for (other, id) in [(user, "none"), (bob, "own-1")] as [(UserID, TransactionID)] {
      #expect(
        try await problem { try await server.transactions.initiated(by: other, after: id, limit: 10) }
          == .unknown)
    }
    // It is not pending, and does not count as a request.
    #expect(try await server.storage.pendingTransactions(user: "alice", at: 0).isEmpty)

    let asked = try await server.transactions.create("Pay", user: user, lifetime: nil, by: .local)
    for (bad, code) in [
      (try await initiated(device, server, id: asked.id), Problem.Code.transactionDecided),
      (try await initiated(device, server, id: "x", origin: .relyingParty("Bank")), .malformed),
      (try await initiated(device, server, id: "x", lifetime: 0), .transactionExpired),
      (try await initiated(device, server, id: "x", lifetime: 86_401), .malformed),
      (try await initiated(device, server, id: "x", status: .denied), .malformed),
      (try await initiated(device, server, id: "x", signedBy: device.session), .unauthorized),
      (Array("{}".utf8), .malformed), (Array(#"{"decision":"a.b.c"}"#.utf8), .unauthorized),
    ] {
      #expect(try await send(bad) == code)
    }
    #expect(try await server.transactions.find(asked.id).0.state == .pending)
  }

  @Test(
    "unasked signatures per user and hour are limited; refused ones write nothing"
  )
  func initiatedTooOften() async throws {
    let server = try ServerFixture { $0.challengeLimits.initiated = 3 }
    let device = try await server.activate()
    let other = try await server.activate(device: 2)
    let bobs = try await server.activate("bob")
    func send(_ id: TransactionID, by device: ProtocolDevice) async throws -> Problem? {
      let record = try await device.send(to: server)
      let body = try await initiated(device, server, id: id)
      do { _ = try await server.transactions.initiate(body, by: record) } catch let problem as Problem {
        return problem
      }
      return nil
    }
    for id in ["one", "two", "three"] as [TransactionID] {
      #expect(try await send(id, by: device) == nil)
      server.clock.advance(by: 100)
    }
    let entries = try await server.audit().count
    for device in [device, other] {
      let refused = try #require(try await send("four", by: device))
      #expect(refused.code == .transactionTooMany && refused.retryAfter == 3300)
    }
    #expect(try await server.audit().count == entries)
    // A repeated transaction gets the same answer, and neither other devices nor requests are held up.
    #expect(try await send("three", by: device) == nil)
    #expect(try await send("bobs", by: bobs) == nil)
    _ = try await server.transactions.create("Pay", user: UserID("alice"), lifetime: nil, by: .local)
    // Setting the clock back frees no room.
    server.clock.advance(by: -3000)
    #expect(try await send("four", by: device)?.retryAfter == 3600)
    server.clock.advance(by: 3000 + 3299)
    #expect(try await send("four", by: device)?.retryAfter == 1)
    server.clock.advance(by: 1)
    #expect(try await send("four", by: device) == nil)
    #expect(try await send("five", by: device)?.retryAfter == 100)
  }

  @Test("unasked signatures are limited in total size")
  func initiatedTooMuch() async throws {
    let server = try ServerFixture { $0.challengeLimits.initiated = 4 }
    let device = try await server.activate()
    let record = try await device.send(to: server)
    let now = server.clock.now
    // 4,000 characters of text, which the JWS repeats in base64url: some 10 KB each.
    var outcomes: [Problem.Code?] = []
    for number in 0..<4 {
      let content = try TransactionContent(.text(String(repeating: "x", count: 4_000)), from: .device)
      let request = TransactionRequest(
        id: TransactionID("long-\(number)"), content: content, created: now, expires: now + 300)
      let body = try await device.decision(.accepted, request, at: now)
      outcomes.append(try await problem { try await server.transactions.initiate(body, by: record) })
    }
    #expect(outcomes == [nil, nil, nil, .transactionTooMany])
  }

  @Test("correct digits reset failures and waits; digits for an ended transaction are not counted")
  func endsTheRow() async throws {
    let server = try ServerFixture { $0.codeAttempts = 6 }
    let device = try await server.activate()
    let user = UserID("alice")
    let secret = try #require(device.otpSecret)
    let container = try #require(device.container)
    func answer(_ digits: String, _ id: TransactionID) async throws -> Problem.Code? {
      try await problem {
        try await server.transactions.answer(
          .scanned(digits), to: id, by: .init(.local, client: "192.0.2.1"))
      }
    }
    func right(_ id: TransactionID) async throws -> String {
      let transaction = try OfflineTransaction(
        verifying: await server.transactions.offline(id), signedBy: #require(device.serverKey))
      return secret.withSecret { transaction.answer(otpSecret: $0, container: container) }
    }
    // Three wrong answers each time: more than six in all, and more than the four that an address may make.
    for _ in 0..<4 {
      let made = try await server.transactions.create("Pay", user: user, lifetime: nil, by: .local)
      let digits = try await right(made.id)
      for _ in 0..<3 { #expect(try await answer("1", made.id) == .transactionWrongAnswer) }
      #expect(try await answer(digits, made.id) == nil)
    }
    let ended = try await server.transactions.create("Pay", user: user, lifetime: nil, by: .local)
    try await server.transactions.withdraw(ended.id, reason: "", by: .local)
    for _ in 0..<10 { #expect(try await answer("1", ended.id) == .transactionCancelled) }
    #expect(try await server.storage.credential(ID(of: container))?.failures == 0)
  }

  @Test("digits of the user's device approve an offline transaction; wrong ones are counted")
  func offline() async throws {
    let server = try ServerFixture { $0.codes.freeAttempts = 1000 }
    let (device, other) = (try await server.activate(), try await server.activate("bob", device: 2))
    let user = UserID("alice")
    func carried(_ id: TransactionID) async throws -> OfflineTransaction {
      try OfflineTransaction(
        verifying: await server.transactions.offline(id), signedBy: #require(device.serverKey))
    }
    func digits(_ transaction: OfflineTransaction, _ device: ProtocolDevice) throws -> String {
      let (secret, container) = (try #require(device.otpSecret), try #require(device.container))
      return secret.withSecret { transaction.answer(otpSecret: $0, container: container) }
    }
    func answer(_ digits: String, _ id: TransactionID) async throws -> Problem.Code? {
      try await problem {
        try await server.transactions.answer(.scanned(digits), to: id, by: .init(.local))
      }
    }
    let made = try await server.transactions.create("Pay 1 €", user: user, lifetime: nil, by: .local)
    let transaction = try await carried(made.id)
    #expect(transaction.content.json == made.content && transaction.user == user)
    let right = try digits(transaction, device)
    #expect(right.count == 8)
    for wrong in ["", "12345678", right + "0", try digits(transaction, other)] where wrong != right {
      #expect(try await answer(wrong, made.id) == .transactionWrongAnswer)
    }
    #expect(try await answer(right, made.id) == nil)
    #expect(try await answer(right, made.id) == nil)
    #expect(try await problem { _ = try await carried(made.id) } == .transactionDecided)
    let found = try await server.transactions.find(made.id).0
    #expect(found.state == .accepted && found.decision != nil && found.decision?.jws == nil)
    // Another transaction has other digits, and wrong ones lock like wrong codes.
    let next = try await server.transactions.create("Pay 2 €", user: user, lifetime: nil, by: .local)
    let nextDigits = try digits(await carried(next.id), device)
    #expect(nextDigits != right)
    for _ in 0..<server.context.settings.codeAttempts {
      #expect(try await answer("00000000", next.id) == .transactionWrongAnswer)
    }
    #expect(try await answer(nextDigits, next.id) == .transactionWrongAnswer)
    #expect(try await server.transactions.find(next.id).0.state == .pending)
    try await server.codes.unlock(user, by: .local)
    let withdrawn = try await server.transactions.create("Pay 3 €", user: user, lifetime: nil, by: .local)
    try await server.transactions.withdraw(withdrawn.id, reason: "", by: .local)
    #expect(try await problem { _ = try await carried(withdrawn.id) } == .transactionCancelled)
    server.clock.advance(by: 300)
    #expect(try await answer(nextDigits, next.id) == .transactionExpired)
    #expect(try await problem { _ = try await carried(next.id) } == .transactionExpired)
    // A transaction cannot be carried if it is for any user, cannot be accepted, or has a number that the digits would bypass.
    for order in [
      TransactionDraft(.text("x"), from: "Bank", user: nil),
      TransactionDraft(.text("x"), from: "Bank", user: user, statuses: [.denied]),
      TransactionDraft(.text("x"), from: "Bank", user: user, numberDigits: 4),
    ] {
      let id = try await server.transactions.create(order, by: .local).record.id
      #expect(try await problem { try await server.transactions.offline(id) } == .malformed)
      #expect(try await answer("00000000", id) == .malformed)
    }
    #expect(try await problem { try await server.transactions.offline("none") } == .unknown)
  }
}
