import SignetTesting
import SignetCrypto
import SignetJSON
import SignetServer
import SignetStorage
import SignetWire
import Testing

/// What a relying party asks and a user decides (`docs/protocol.md` section 5).
@Suite struct TransactionTests {
  private func create(_ server: ServerFixture, _ text: String = "Pay 1 €") async throws -> TransactionRecord {
    try await server.transactions.create(text, user: UserID("alice"), lifetime: nil, by: "key:test")
  }

  private func pending(_ server: ServerFixture, _ device: ProtocolDevice) async throws -> [TransactionRequest]
  {
    let record = try await device.send(to: server)
    return try await TransactionList(
      decrypting: server.transactions.pending(for: record), with: device.encryption
    ).transactions
  }

  private func decide(
    _ server: ServerFixture, _ device: ProtocolDevice, _ status: DecisionStatus,
    _ request: TransactionRequest,
    signedBy key: P256.Signing.PrivateKey? = nil
  ) async throws -> Problem.Code? {
    let record = try await device.send(to: server)
    let body = try await device.decision(status, request, at: server.clock.now, signedBy: key)
    return try await problem {
      try await server.transactions.decide(body, id: request.id.text, by: record)
    }
  }

  @Test func isAskedDecidedAndFound() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let made = try await create(server, "Pay 1 €\nto Jane")
    let request = try #require(try await pending(server, device).first)
    #expect(request.text == "Pay 1 €\nto Jane" && request.expires == server.clock.now + 300)
    #expect(try await decide(server, device, .accepted, request) == nil)
    let (found, container) = try await server.transactions.find(made.id)
    #expect(found.state == .accepted && container?.id == device.container?.text)
    let jws = try #require(found.decision?.jws)
    let decision = try #require(Decision(verifying: jws, signedBy: device.signing.publicKey))
    #expect(decision.text == made.text && decision.status == .accepted)
    #expect(try await pending(server, device).isEmpty)
  }

  @Test("the same again is answered as the first time, anything else is too late")
  func firstDecisionWins() async throws {
    let server = try ServerFixture()
    let (device, other) = (try await server.activate(), try await server.activate(device: 2))
    let made = try await create(server)
    let request = try #require(try await pending(server, device).first)
    #expect(try await decide(server, device, .denied, request) == nil)
    let jws = try await server.transactions.find(made.id).0.decision?.jws
    #expect(try await decide(server, device, .denied, request) == nil)
    #expect(try await decide(server, device, .accepted, request) == .transactionDecided)
    #expect(try await decide(server, other, .denied, request) == .transactionDecided)
    #expect(try await server.transactions.find(made.id).0.decision?.jws == jws)
    server.clock.advance(by: 1000)
    #expect(try await decide(server, device, .denied, request) == nil)
  }

  @Test func expires() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let made = try await create(server)
    let request = try #require(try await pending(server, device).first)
    server.clock.advance(by: 300)
    #expect(try await pending(server, device).isEmpty)
    #expect(try await decide(server, device, .accepted, request) == .transactionExpired)
    #expect(try await server.lastReason() == "expired")
    #expect(try await server.transactions.find(made.id).0.state(at: server.clock.now) == .expired)
    _ = try await server.storage.sweep(at: server.clock.now) { AuditEvent(text: "{\"t\":\"\($0)\"}") }
    #expect(try await decide(server, device, .accepted, request) == .transactionExpired)
  }

  @Test func nobodyElseDecides() async throws {
    let server = try ServerFixture()
    let (device, bobs) = (try await server.activate(), try await server.activate("bob"))
    let made = try await create(server)
    let request = try #require(try await pending(server, device).first)
    #expect(try await pending(server, bobs).isEmpty)
    #expect(try await decide(server, bobs, .accepted, request) == .unknown)
    // The session key does not decide, and neither does another container's signing key.
    #expect(try await decide(server, device, .accepted, request, signedBy: device.session) == .unauthorized)
    #expect(try await decide(server, device, .accepted, request, signedBy: bobs.signing) == .unauthorized)
    #expect(try await server.transactions.find(made.id).0.state == .pending)
  }

  @Test("wrong signatures are counted, and at the limit a right one looks like them")
  func countsWrongSignatures() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let made = try await create(server)
    let request = try #require(try await pending(server, device).first)
    let other = P256.Signing.PrivateKey()
    for _ in 0..<server.context.settings.codeAttempts {
      #expect(try await decide(server, device, .accepted, request, signedBy: other) == .unauthorized)
    }
    #expect(try await decide(server, device, .accepted, request) == .unauthorized)
    #expect(try await server.transactions.find(made.id).0.state == .pending)
    try await server.codes.unlock(UserID("alice"), by: "test")
    #expect(try await decide(server, device, .accepted, request) == nil)
  }

  @Test("a decision that says anything but what was asked is refused")
  func bindsWhatWasShown() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let (made, second) = (try await create(server), try await create(server, "Pay 2 €"))
    let request = try #require(try await pending(server, device).first { $0.id.text == made.id })
    for (text, expires) in [("Pay 1 € ", request.expires), (request.text, request.expires + 1)] {
      let changed = try TransactionRequest(
        id: request.id, text: text, created: request.created, expires: expires)
      #expect(try await decide(server, device, .accepted, changed) == .malformed)
    }
    var changed = device
    changed.server = try ServerURL("id.example.org/other")
    #expect(try await decide(server, changed, .accepted, request) == .malformed)
    changed = device
    changed.user = try UserID("bob")
    #expect(try await decide(server, changed, .accepted, request) == .malformed)
    // Signed for one transaction and sent to another's path.
    let record = try await device.send(to: server)
    let body = try await device.decision(.accepted, request, at: server.clock.now)
    #expect(
      try await problem { try await server.transactions.decide(body, id: second.id, by: record) }
        == .malformed)
    for body in ["", "{}", #"{"decision":7}"#] {
      #expect(
        try await problem {
          try await server.transactions.decide(Array(body.utf8), id: made.id, by: record)
        } == .malformed)
    }
    #expect(try await server.transactions.find(made.id).0.state == .pending)
  }

  @Test func refusesTextsAndLifetimes() async throws {
    let server = try ServerFixture()
    _ = try await server.invite()
    let user = try UserID("alice")
    for text in ["", "a\u{1B}[31m", "a\u{202E}b", String(repeating: "x", count: 4097)] {
      #expect(try await problem { try await create(server, text) } == .textRefused)
    }
    for lifetime in [0, -1, 86_401, Int64.max] {
      #expect(
        try await problem {
          try await server.transactions.create("Pay", user: user, lifetime: lifetime, by: "test")
        } == .malformed)
    }
    #expect(
      try await problem {
        try await server.transactions.create("Pay", user: UserID("nobody"), lifetime: nil, by: "test")
      } == .unknown)
  }
}
