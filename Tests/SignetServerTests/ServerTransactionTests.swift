import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import Synchronization
import Testing

/// Requests of a relying party, and decisions of a user (`docs/protocol.md` section 5).
@Suite(.timeLimit(.minutes(10))) struct ServerTransactionTests {
  private func create(_ server: ServerFixture, _ text: String = "Pay 1 €") async throws -> TransactionRecord {
    try await server.transactions.create(text, user: UserID("alice"), lifetime: nil, by: .key("test"))
  }

  private func pending(_ server: ServerFixture, _ device: ProtocolDevice) async throws -> [TransactionRequest]
  {
    let record = try await device.send(to: server)
    let id = [UInt8](repeating: 3, count: 16)
    let list = try #require(await server.transactions.waiting(for: record.id))
    let sealed = try await SealedTransactionList(
      decrypting: server.transactions.sealed(list, request: id), with: device.encryption)
    let address = ListAddress(
      server: device.server, container: try #require(device.container), request: id)
    return try sealed.list(signedBy: #require(device.serverKey), for: address).transactions
  }

  private func decide(
    _ server: ServerFixture, _ device: ProtocolDevice, _ status: DecisionStatus,
    _ request: TransactionRequest,
    signedBy key: P256.Signing.PrivateKey? = nil
  ) async throws -> Problem.Code? {
    let record = try await device.send(to: server)
    let body = try await device.decision(status, request, at: server.clock.now, signedBy: key)
    return try await problem {
      try await server.transactions.decide(body, id: request.id, by: record)
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
    #expect(found.state == .accepted && container?.id == device.container)
    let jws = try #require(found.decision?.jws)
    let decision = try #require(Decision(verifying: jws, signedBy: device.signing.publicKey))
    #expect(decision.isAbout(made.content) && decision.status == .accepted)
    #expect(try await pending(server, device).isEmpty)
  }

  @Test("a repeated decision gets the first answer; a different one is too late")
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

  @Test("an API key revoked between check and write cannot create, withdraw or answer")
  func revokedMeanwhile() async throws {
    let server = try ServerFixture()
    _ = try await server.activate()
    let new = try await server.keys.create(name: "shop", scopes: [.relyingParty], by: .local)
    let actor = try await server.keys.key(
      authorization: "Bearer \(new.text)", scope: .relyingParty
    ).actor
    func order() throws -> TransactionDraft {
      TransactionDraft(.text("Pay 1 €"), from: "shop", user: UserID("alice"))
    }
    let made = try await server.transactions.create(order(), by: actor, key: new.id).record
    try await server.keys.revoke(new.id, by: .local)
    let entries = try await server.audit().count
    let refused: [Problem.Code?] = [
      try await problem {
        try await server.transactions.create(order(), by: actor, key: new.id)
      },
      try await problem {
        try await server.transactions.withdraw(made.id, reason: "", by: actor, key: new.id)
      },
      try await problem {
        try await server.transactions.answer(
          .scanned("00000000"), to: made.id, by: .init(actor, key: new.id))
      },
    ]
    #expect(refused == [.unauthorized, .unauthorized, .unauthorized])
    #expect(try await server.audit().count == entries)
    #expect(try await server.transactions.find(made.id).0.state == .pending)
    #expect(try await server.storage.pendingTransactions(user: "alice", at: server.clock.now).count == 1)
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
    _ = try await server.storage.sweep(at: server.clock.now) { .sample("\($0)") }
    #expect(try await decide(server, device, .accepted, request) == .transactionExpired)
  }

  @Test("a transaction reported as expired stays expired after the clock is set back")
  func expiresOnce() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let made = try await create(server)
    let request = try #require(try await pending(server, device).first)
    server.clock.advance(by: 600)
    #expect(try await server.transactions.find(made.id).0.state == .expired)
    server.clock.advance(by: -600)
    #expect(try await server.transactions.find(made.id).0.state(at: server.clock.now) == .expired)
    #expect(try await pending(server, device).isEmpty)
    #expect(try await decide(server, device, .accepted, request) == .transactionExpired)
  }

  /// The operations whose answer can report that a transaction has expired.
  enum Telling: CaseIterable {
    case decision, denial, cancellation, withdrawal, scan, listing
  }

  @Test("a reported end is final after the clock is set back", arguments: Telling.allCases)
  func toldOnce(_ telling: Telling) async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let made = try await create(server)
    let request = try #require(try await pending(server, device).first)
    let record = try await device.send(to: server)
    server.clock.advance(by: 300)
    switch telling {
    case .decision: #expect(try await decide(server, device, .accepted, request) == .transactionExpired)
    case .denial: #expect(try await decide(server, device, .denied, request) == .transactionExpired)
    case .cancellation:
      #expect(
        try await problem {
          try await server.transactions.cancel(
            Array(#"{"reason":"userCancel"}"#.utf8), id: made.id, by: record)
        } == .transactionExpired)
    case .withdrawal:
      #expect(
        try await problem { try await server.transactions.withdraw(made.id, reason: "", by: .local) }
          == .transactionExpired)
    case .scan:
      #expect(
        try await problem {
          try await server.transactions.one(made.id, for: record, request: [UInt8](repeating: 1, count: 16))
        } == .transactionExpired)
    case .listing:
      let filter = TransactionFilter(user: "alice")
      let listed = try await server.transactions.list(filter, before: nil, limit: 10)
      #expect(listed.map(\.state) == [.expired])
    }
    server.clock.advance(by: -60)
    #expect(try await decide(server, device, .accepted, request) == .transactionExpired)
    #expect(try await server.storage.transaction(made.id)?.state == .expired)
    #expect(try await pending(server, device).isEmpty)
  }

  /// A clock that is set back after a number of reads.
  private final class FallingClock: WallClock {
    private let state: Mutex<(left: Int, late: Int64, early: Int64)>

    init(reads: Int, at late: Int64, then early: Int64) { state = Mutex((reads, late, early)) }

    var now: Int64 {
      state.withLock { state in
        state.left -= 1
        return state.left < 0 ? state.early : state.late
      }
    }
  }

  @Test("an end stays as reported when the clock is set back in between")
  func toldAndKept() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let made = try await create(server)
    let record = try await device.send(to: server)
    let start = server.clock.now
    let falling = ServiceContext(
      settings: server.context.settings, storage: server.storage, masterKey: server.context.masterKey,
      clock: FallingClock(reads: 1, at: start + 600, then: start), log: server.capture.log)
    #expect(
      try await problem {
        try await TransactionService(falling)
          .one(made.id, for: record, request: [UInt8](repeating: 1, count: 16))
      } == .transactionExpired)
    #expect(try await server.storage.transaction(made.id)?.state == .expired)
  }

  @Test func nobodyElseDecides() async throws {
    let server = try ServerFixture()
    let (device, bobs) = (try await server.activate(), try await server.activate("bob"))
    let made = try await create(server)
    let request = try #require(try await pending(server, device).first)
    #expect(try await pending(server, bobs).isEmpty)
    #expect(try await decide(server, bobs, .accepted, request) == .unknown)
    // Neither the session key nor another container's signing key can decide.
    #expect(try await decide(server, device, .accepted, request, signedBy: device.session) == .unauthorized)
    #expect(try await decide(server, device, .accepted, request, signedBy: bobs.signing) == .unauthorized)
    #expect(try await server.transactions.find(made.id).0.state == .pending)
  }

  @Test("wrong signatures are counted, and at the limit a correct one gets the same answer")
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
    try await server.codes.unlock(UserID("alice"), by: .local)
    #expect(try await decide(server, device, .accepted, request) == nil)
  }

  @Test("a decision that differs from the request is refused")
  func bindsWhatWasShown() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let (made, second) = (try await create(server), try await create(server, "Pay 2 €"))
    let request = try #require(try await pending(server, device).first { $0.id == made.id })
    for (text, expires) in [("Pay 1 € ", request.expires), ("Pay 1 €", request.expires + 1)] {
      let changed = try TransactionRequest(
        id: request.id, text: text, created: request.created, expires: expires)
      #expect(try await decide(server, device, .accepted, changed) == .malformed)
    }
    var changed = device
    changed.server = try ServerURL("id.example.org/other")
    #expect(try await decide(server, changed, .accepted, request) == .malformed)
    changed = device
    changed.user = UserID("bob")
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

  @Test("a changed byte anywhere in the content makes another transaction")
  func bindsEveryByteOfTheContent() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let form = try TransactionForm(
      template: "payment",
      fields: [
        TransactionField(.amount(MoneyAmount("250.00", currency: "EUR"))),
        TransactionField(.payee(name: "Jane", account: nil)),
      ])
    let order = TransactionDraft(.form(form), from: "Example Bank", user: UserID("alice"))
    let made = try await server.transactions.create(order, by: .local).record
    let request = try #require(try await pending(server, device).first)
    let record = try await device.send(to: server)
    // Made by the test: our devices sign no invalid content, but others might.
    func decide(_ content: [UInt8]) async throws -> Problem.Code? {
      let decision = Decision(
        .accepted, of: request, at: server.clock.now, server: device.server, user: device.user,
        container: try #require(device.container), device: device.id)
      var payload = try JSONObject(parsing: decision.bytes)
      payload["content"] = .string(try #require(String(validating: content, as: UTF8.self)))
      let key = SigningKey(device.signing, keyID: device.signing.publicKey.thumbprint)
      let body: JSONObject = [
        "decision": .string(try JWS.sign(payload.bytes, with: key, type: Decision.type))
      ]
      return try await problem { try await server.transactions.decide(body.bytes, id: made.id, by: record) }
    }
    let bytes = Array(request.content.json.utf8)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      #expect(try await decide(changed) == .malformed, "byte \(index)")
    }
    #expect(try await server.transactions.find(made.id).0.state == .pending)
    #expect(try await decide(bytes) == nil)
    #expect(try await server.transactions.find(made.id).0.state == .accepted)
  }

  @Test("reported is its own decision; statuses that are not offered are refused, except denied")
  func offersStatuses() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let user = UserID("alice")
    let reported = try await create(server)
    var request = try #require(try await pending(server, device).first)
    #expect(request.statuses == [.accepted, .denied, .reported])
    #expect(try await decide(server, device, .reported, request) == nil)
    #expect(try await server.transactions.find(reported.id).0.state == .reported)
    #expect(try await decide(server, device, .accepted, request) == .transactionDecided)
    try await server.codes.unlock(user, by: .local)

    let order = TransactionDraft(.text("Pay"), from: "Bank", user: user, statuses: [.accepted])
    _ = try await server.transactions.create(order, by: .local)
    request = try #require(try await pending(server, device).first)
    #expect(request.statuses == [.accepted, .denied])
    #expect(try await decide(server, device, .reported, request) == .malformed)
    #expect(try await decide(server, device, .denied, request) == nil)
  }

  @Test("only an approval needs the relying party's number; three wrong ones deny")
  func matchesTheNumber() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let order = TransactionDraft(
      .text("Pay"), from: "Bank", user: UserID("alice"), numberDigits: 4)
    func make() async throws -> (id: TransactionID, number: MatchingNumber, TransactionRequest) {
      let made = try await server.transactions.create(order, by: .local)
      let request = try #require(
        try await pending(server, device).first { $0.id == made.record.id })
      #expect(request.numberDigits == 4)
      return (made.record.id, try #require(made.number), request)
    }
    func decide(
      _ status: DecisionStatus, _ request: TransactionRequest, _ number: MatchingNumber?,
      signedBy key: P256.Signing.PrivateKey? = nil
    ) async throws -> Problem.Code? {
      let record = try await device.send(to: server)
      let body = try await device.decision(
        status, request, at: server.clock.now, signedBy: key, number: number)
      return try await problem {
        try await server.transactions.decide(body, id: request.id, by: record)
      }
    }
    let (id, number, request) = try await make()
    let wrong = try MatchingNumber(String(number.digits.map { $0 == "9" ? "0" : "9" }))
    // Without the signing key, a guess reveals nothing about the number and uses up no attempt.
    for guess in [number, wrong] {
      #expect(try await decide(.accepted, request, guess, signedBy: device.session) == .unauthorized)
    }
    #expect(try await decide(.accepted, request, nil) == .transactionWrongNumber)
    #expect(try await decide(.accepted, request, wrong) == .transactionWrongNumber)
    #expect(try await decide(.denied, request, number) == .malformed)
    #expect(try await decide(.accepted, request, number) == nil)
    let jws = try #require(try await server.transactions.find(id).0.decision?.jws)
    #expect(Decision(verifying: jws, signedBy: device.signing.publicKey)?.number == number)

    let second = try await make()
    for _ in 0..<3 {
      #expect(try await decide(.accepted, second.2, MatchingNumber("12")) == .transactionWrongNumber)
    }
    #expect(try await decide(.accepted, second.2, second.number) == .transactionDecided)
    let denied = try await server.transactions.find(second.id).0
    #expect(denied.state == .denied && denied.end?.reason == "wrongNumber" && denied.decision == nil)
    let third = try await make()
    #expect(try await decide(.denied, third.2, nil) == nil)
    // A number is rejected if none was requested.
    _ = try await create(server)
    let plain = try #require(try await pending(server, device).first)
    #expect(try await decide(.accepted, plain, number) == .malformed)
    // The stored number is sealed, for its transaction alone.
    let sealed = try #require(denied.sealedNumber)
    #expect(throws: CryptoFailure.self) {
      _ = try server.context.masterKey.open(sealed, for: .matchingNumber(transaction: id))
    }
  }

  @Test("a user's cancellation has a reason and holds for all devices; later answers are refused")
  func isCancelled() async throws {
    let server = try ServerFixture()
    let (device, other) = (try await server.activate(), try await server.activate(device: 2))
    let bobs = try await server.activate("bob")
    let made = try await create(server)
    let request = try #require(try await pending(server, device).first)
    let body = try Cancellation(.userCancel, message: "changed my mind").bytes
    #expect(
      try await problem { try await server.transactions.cancel(body, id: made.id, by: bobs.send(to: server)) }
        == .unknown)
    let record = try await device.send(to: server)
    try await server.transactions.cancel(body, id: made.id, by: record)
    try await server.transactions.cancel(body, id: made.id, by: record)
    let found = try await server.transactions.find(made.id).0
    #expect(found.state == .cancelled && found.decision == nil)
    #expect(
      found.end
        == EndRecord(
          state: .cancelled, reason: "userCancel", message: "changed my mind", container: record.id,
          time: server.clock.now))
    #expect(try await pending(server, other).isEmpty)
    #expect(try await decide(server, other, .accepted, request) == .transactionCancelled)
    #expect(
      try await problem { try await server.transactions.withdraw(made.id, reason: "", by: .key("test")) }
        == .transactionCancelled)
    for bad in ["", "{}", #"{"reason":"userCancel","message":"a\u0007"}"#] {
      #expect(
        try await problem { try await server.transactions.cancel(Array(bad.utf8), id: made.id, by: record) }
          == .malformed)
    }
  }

  @Test func isWithdrawn() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let (made, decided) = (try await create(server), try await create(server))
    let requests = try await pending(server, device)
    let request = try #require(requests.first { $0.id == made.id })
    try await server.transactions.withdraw(made.id, reason: "paid otherwise", by: .key("test"))
    try await server.transactions.withdraw(made.id, reason: "again", by: .key("test"))
    let found = try await server.transactions.find(made.id).0
    #expect(found.state == .withdrawn && found.end?.reason == "paid otherwise")
    #expect(try await decide(server, device, .accepted, request) == .transactionCancelled)
    let other = try #require(requests.first { $0.id == decided.id })
    #expect(try await decide(server, device, .accepted, other) == nil)
    #expect(
      try await problem { try await server.transactions.withdraw(decided.id, reason: "", by: .local) }
        == .transactionDecided)
    let late = try await create(server)
    server.clock.advance(by: 300)
    #expect(
      try await problem { try await server.transactions.withdraw(late.id, reason: "", by: .local) }
        == .transactionExpired)
    #expect(
      try await problem { try await server.transactions.withdraw("none", reason: "", by: .local) } == .unknown
    )
    #expect(
      try await problem { try await server.transactions.withdraw(late.id, reason: "a\n", by: .local) }
        == .malformed)
  }

  @Test func refusesTextsAndLifetimes() async throws {
    let server = try ServerFixture()
    _ = try await server.invite()
    let user = UserID("alice")
    for text in ["", "a\u{1B}[31m", "a\u{202E}b", String(repeating: "x", count: 4097)] {
      #expect(try await problem { try await create(server, text) } == .contentRefused)
    }
    for lifetime in [0, -1, 86_401, Int64.max] {
      #expect(
        try await problem {
          try await server.transactions.create("Pay", user: user, lifetime: lifetime, by: .local)
        } == .malformed)
    }
    #expect(
      try await problem {
        try await server.transactions.create("Pay", user: UserID("nobody"), lifetime: nil, by: .local)
      } == .unknown)
  }
}
