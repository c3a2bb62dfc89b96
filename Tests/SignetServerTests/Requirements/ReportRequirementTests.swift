import PostgreSQLFixture
import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Testing

/// Requirements for a recent report of the device.
@Suite(.timeLimit(.minutes(10))) struct ReportRequirementTests {
  private static let (signed, age) = ("urn:signet:acr:signed", Int64(100))
  private static let missing = "fresh needs a report of the device that is at most 100 s old"
  private static let due = "A report of the device is due; send it, then send the decision again: \(missing)."

  private static func add(to settings: inout ServicePolicy) {
    var fresh = AuthenticationRequirement()
    fresh.longestReportAge = age
    settings.requirements.own["fresh"] = fresh
    (fresh.keyProtection, fresh.needsSignedContent) = (.hardwareClaimed, true)
    settings.requirements.own["hardware"] = fresh
  }

  private func fixture() async throws -> OpenIDFixture {
    try await OpenIDFixture { Self.add(to: &$0) }
  }

  private func ask(_ fixture: OpenIDFixture, _ client: TestClient, _ names: String) async throws -> String {
    try await fixture.ask(client, [("login_hint", "alice"), ("acr_values", names)]).id
  }

  private func waiting(_ fixture: OpenIDFixture) async throws -> TransactionRecord {
    try #require(try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now).last)
  }

  private func found(_ id: TransactionID, _ fixture: OpenIDFixture) async throws -> TransactionRecord {
    try await fixture.server.transactions.find(id).0
  }

  private func acr(_ fixture: OpenIDFixture, _ client: TestClient, _ id: String) async throws -> String {
    let answer = try await fixture.poll(client, id)
    try #require(answer.status == 200, "\(answer.body.text)")
    let token = try JWS(compact: answer.body.string("id_token"))
    return try JSONObject(parsing: token.unverifiedPayload).string("acr")
  }

  /// Records a report of a container's device with the current time.
  private func report(_ fixture: OpenIDFixture, _ device: ProtocolDevice? = nil) async throws {
    let id = try #require((device ?? fixture.device).container)
    let (storage, now) = (fixture.server.storage, fixture.now)
    try await storage.setAccountChallenge([1], expires: now + 120, of: id, at: now)
    let isTaken = try await storage.acceptAccountReport(
      AccountReportAttempt(
        container: id, challenge: [1], time: now, report: "jws", seen: 0, verdict: .open, reason: "")
    ) { _ in .sample() }
    #expect(isTaken)
  }

  /// The problem that alice's device receives when it approves her last request.
  private func refusal(
    _ fixture: OpenIDFixture, _ record: TransactionRecord? = nil, on device: ProtocolDevice? = nil
  ) async throws -> Problem? {
    let asked = if let record { record } else { try await waiting(fixture) }
    do { try await fixture.decide(.accepted, asked, on: device) } catch let problem as Problem {
      return problem
    }
    return nil
  }

  @Test(
    "an approval needs a recent device report, a denial does not")
  func isDue() async throws {
    let fixture = try await fixture()
    let client = try await fixture.register()
    let first = try await ask(fixture, client, "fresh")
    #expect(try await refusal(fixture) == Problem(.reportDue, Self.due))
    #expect(try await fixture.poll(client, first).outcome == "400 authorization_pending")
    fixture.server.clock.advance(by: 5)
    try await report(fixture)
    #expect(try await refusal(fixture) == nil)
    #expect(try await acr(fixture, client, first) == "fresh")

    // The last valid second, and the one after it.
    fixture.server.clock.advance(by: Self.age)
    let second = try await ask(fixture, client, "fresh")
    #expect(try await refusal(fixture) == nil)
    #expect(try await acr(fixture, client, second) == "fresh")
    fixture.server.clock.advance(by: 1)
    let third = try await ask(fixture, client, "fresh")
    #expect(try await refusal(fixture) == Problem(.reportDue, Self.due))
    try await fixture.decide(.denied)
    #expect(try await fixture.poll(client, third).outcome == "400 access_denied")
  }

  @Test("each device of a user reports for itself")
  func eachDevice() async throws {
    let fixture = try await fixture()
    let other = try await fixture.server.activate(device: 2)
    try await report(fixture, other)
    let order = TransactionDraft(
      .text("Pay"), from: "Shop", user: UserID("alice"), requirements: ["fresh"])
    let made = try await fixture.server.transactions.create(order, by: .local).record
    #expect(try await refusal(fixture, made)?.code == .reportDue)
    #expect(try await refusal(fixture, made, on: other) == nil)
    #expect(try await found(made.id, fixture).decision?.container == other.container)
  }

  @Test("acr states the report at the time of the decision; later reports do not change it")
  func atTheDecision() async throws {
    let fixture = try await fixture()
    let client = try await fixture.register()
    let without = try await ask(fixture, client, "fresh \(Self.signed)")
    #expect(try await refusal(fixture) == nil)
    fixture.server.clock.advance(by: 1)
    try await report(fixture)
    #expect(try await acr(fixture, client, without) == Self.signed)

    fixture.server.clock.advance(by: Self.age)
    let with = try await ask(fixture, client, "fresh \(Self.signed)")
    let record = try await waiting(fixture)
    #expect(try await refusal(fixture) == nil)
    let reported = fixture.now - Self.age
    fixture.server.clock.advance(by: 60)
    try await report(fixture)
    #expect(try await found(record.id, fixture).decision?.lastReport == reported)
    #expect(try await acr(fixture, client, with) == "fresh")
  }

  @Test("the time of the last report is kept only if something is required by name")
  func keepsTheTime() async throws {
    let fixture = try await fixture()
    try await report(fixture)
    for (names, expected) in [([], nil), ([Self.signed], fixture.now), (["fresh"], fixture.now)]
      as [([String], Int64?)]
    {
      let order = TransactionDraft(
        .text("Pay"), from: "Shop", user: UserID("alice"), requirements: names)
      let made = try await fixture.server.transactions.create(order, by: .local).record
      #expect(try await refusal(fixture, made) == nil)
      let decision = try #require(try await found(made.id, fixture).decision)
      #expect(decision.lastReport == expected, "\(names)")
    }
  }

  @Test("no report is requested if another demand is unmet")
  func otherwiseShort() async throws {
    let fixture = try await fixture()
    _ = try await fixture.server.activate(device: 2) { $0.keystore = .tpm2 }
    let client = try await fixture.register()
    let id = try await ask(fixture, client, "hardware")
    let refused = try #require(try await refusal(fixture))
    #expect(refused.code == .malformed)
    #expect(
      refused.detail
        == "This device does not meet the relying party's requirement: hardware needs a key in hardware and a report of the device that is at most 100 s old."
    )
    #expect(try await fixture.poll(client, id).outcome == "400 authorization_pending")
  }

  @Test(
    "an ended transaction reports its outcome despite an overdue report; a repeated decision is idempotent")
  func ended() async throws {
    let fixture = try await fixture()
    let other = try await fixture.server.activate(device: 2)
    try await report(fixture)
    let order = TransactionDraft(
      .text("Pay"), from: "Shop", user: UserID("alice"), lifetime: 3600, requirements: ["fresh"])
    let made = try await fixture.server.transactions.create(order, by: .local).record
    #expect(try await refusal(fixture, made) == nil)
    fixture.server.clock.advance(by: 2 * Self.age)
    #expect(try await refusal(fixture, made) == nil)
    #expect(try await refusal(fixture, made, on: other)?.code == .transactionDecided)
    let late = try await fixture.server.transactions.create(order, by: .local).record
    fixture.server.clock.advance(by: 3600)
    #expect(try await refusal(fixture, late)?.code == .transactionExpired)
  }

  @Test("digits meet the report requirement only with an earlier recent report")
  func digits() async throws {
    let fixture = try await fixture()
    let client = try await fixture.register()
    let id = try await ask(fixture, client, "fresh")
    let transaction = try await waiting(fixture).id
    let refused = Problem(
      .reportDue,
      "\(Self.missing); have the device report ('signet condition report'), and ask for digits after that.")
    await #expect(throws: refused) { try await fixture.server.transactions.offline(transaction) }
    try await report(fixture)
    let carried = try OfflineTransaction(
      verifying: await fixture.server.transactions.offline(transaction),
      signedBy: #require(fixture.device.serverKey))
    let (secret, container) = (try #require(fixture.device.otpSecret), try #require(fixture.device.container))
    let digits = secret.withSecret { carried.answer(otpSecret: $0, container: container) }
    // The report becomes too old while the digits are carried.
    fixture.server.clock.advance(by: Self.age + 1)
    await #expect(throws: refused) {
      try await fixture.server.transactions.answer(.scanned(digits), to: transaction, by: .init(.local))
    }
    try await report(fixture)
    try await fixture.server.transactions.answer(.scanned(digits), to: transaction, by: .init(.local))
    #expect(try await found(transaction, fixture).decision?.lastReport == fixture.now)
    fixture.server.clock.advance(by: 5)
    try await report(fixture)
    #expect(try await acr(fixture, client, id) == "fresh")
  }

  /// The digits that alice's device shows for a transaction.
  private func carriedDigits(for id: TransactionID, _ fixture: OpenIDFixture) async throws -> String {
    let carried = try OfflineTransaction(
      verifying: await fixture.server.transactions.offline(id), signedBy: #require(fixture.device.serverKey))
    let (secret, container) = (try #require(fixture.device.otpSecret), try #require(fixture.device.container))
    return secret.withSecret { carried.answer(otpSecret: $0, container: container) }
  }

  @Test("a requirement tightened during an answer refuses the digits")
  func digitsInTheStep() async throws {
    let fixture = try await OpenIDFixture(on: .sqlite) { Self.add(to: &$0) }
    try await report(fixture)
    let interruption = StepInterruption()
    let context = fixture.server.context(suffering: interruption.faults)
    let (storage, transactions) = (context.storage, TransactionService(context))
    let settings = context.settings
    var fresh = AuthenticationRequirement()
    (fresh.longestReportAge, fresh.keyProtection) = (Self.age, .hardwareClaimed)
    var tighter = settings
    tighter.requirements.own["fresh"] = fresh
    let tightened = tighter
    let order = TransactionDraft(
      .text("Pay"), from: "Shop", user: UserID("alice"), requirements: ["fresh"])
    var refused = 0
    for step in 1...40 {
      let id = try await fixture.server.transactions.create(order, by: .local).record.id
      let digits = try await carriedDigits(for: id, fixture)
      let before = storage.commitCount
      interruption.arm(before: step, isUndecided: { storage.commitCount == before }) {
        context.apply(tightened)
      }
      let found = try await problem {
        try await transactions.answer(.scanned(digits), to: id, by: .init(.local))
      }
      context.apply(settings)
      guard let wasUndecided = interruption.disarm() else { break }
      let expected: Problem.Code? = wasUndecided ? .malformed : nil
      #expect(found == expected, "before step \(step)")
      guard wasUndecided else { continue }
      refused += 1
      try await fixture.server.transactions.withdraw(id, reason: "", by: .local)
      try await fixture.server.codes.unlock(UserID("alice"), by: .local)
    }
    #expect(refused > 1)
  }

  @Test("if the clock is set back, requirements are still checked")
  func digitsAfterTheEnd() async throws {
    let fixture = try await OpenIDFixture(on: .sqlite) { Self.add(to: &$0) }
    let (interruption, clock) = (StepInterruption(), fixture.server.clock)
    let transactions = TransactionService(fixture.server.context(suffering: interruption.faults))
    let order = TransactionDraft(
      .text("Pay"), from: "Shop", user: UserID("alice"), lifetime: 300, requirements: ["fresh"])
    for step in 1...40 {
      try await report(fixture)
      let id = try await fixture.server.transactions.create(order, by: .local).record.id
      let digits = try await carriedDigits(for: id, fixture)
      clock.advance(by: 300)
      interruption.arm(before: step, isUndecided: { true }) { clock.advance(by: -1) }
      let found = try await problem {
        try await transactions.answer(.scanned(digits), to: id, by: .init(.local))
      }
      #expect(found == .transactionExpired || found == .reportDue, "before step \(step)")
      #expect(try await fixture.server.storage.transaction(id)?.decision == nil)
      clock.advance(by: 300)
      try await fixture.server.codes.unlock(UserID("alice"), by: .local)
      guard interruption.disarm() != nil else { return }
    }
    Issue.record("an answer takes more than 40 steps")
  }

  @Test(
    "users without a container are not asked for a report, since UAF keys and apps send none"
  )
  func withoutContainer() async throws {
    let bench = try await AuthenticatorBench([.uaf, .app])
    var settings = bench.server.context.settings
    Self.add(to: &settings)
    bench.server.context.apply(settings)
    let refused = Problem(
      .noAuthenticator,
      "No authenticator of the user meets the requirement: \(Self.missing); activate a device.")
    await #expect(throws: refused) { try await bench.make("Pay 10", requirements: ["fresh"]) }
    _ = try await bench.server.activate()
    _ = try await bench.make("Pay 10", requirements: ["fresh"])
    #expect(bench.sent().isEmpty)
    #expect(try await bench.waitsForContainer())
  }
}
