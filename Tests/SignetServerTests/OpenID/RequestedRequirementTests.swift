import PostgreSQLFixture
import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetSQLite
import SignetStorage
import SignetTesting
import Testing

/// `acr_values` of authentication requests, and `acr` of the tokens (CIBA section 7.1, OpenID Connect Core sections 2 and
/// 3.1.2.1).
@Suite(.timeLimit(.minutes(10))) struct RequestedRequirementTests {
  private static let (signed, answered) = ("urn:signet:acr:signed", "urn:signet:acr:answered")

  private func fixture(on backend: StorageBackend = .ofServices) async throws -> OpenIDFixture {
    try await OpenIDFixture(on: backend) { settings in
      var (hardware, attested, verified) = (
        AuthenticationRequirement(), AuthenticationRequirement(), AuthenticationRequirement()
      )
      hardware.keyProtection = .hardwareClaimed
      attested.keyProtection = .hardwareAttested
      (verified.factors, verified.needsUserVerification) = (2, true)
      settings.requirements.own["hardware"] = hardware
      settings.requirements.own["attested"] = attested
      settings.requirements.own["verified"] = verified
    }
  }

  private func ask(_ fixture: OpenIDFixture, _ client: TestClient, _ names: String) async throws
    -> OpenIDAnswer
  {
    try await fixture.ask(client, [("login_hint", "alice"), ("acr_values", names)])
  }

  private func claims(_ answer: OpenIDAnswer, _ token: String = "id_token") throws -> JSONObject {
    try JSONObject(parsing: JWS(compact: answer.body.string(token)).unverifiedPayload)
  }

  private func waiting(_ fixture: OpenIDFixture) async throws -> TransactionRecord {
    try #require(try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now).last)
  }

  /// Answers with the digits from alice's device.
  private func type(_ fixture: OpenIDFixture) async throws {
    let transaction = try await waiting(fixture).id
    let transactions = fixture.server.transactions
    let carried = try OfflineTransaction(
      verifying: await transactions.offline(transaction), signedBy: #require(fixture.device.serverKey))
    let (secret, container) = (try #require(fixture.device.otpSecret), try #require(fixture.device.container))
    let digits = secret.withSecret { carried.answer(otpSecret: $0, container: container) }
    try await transactions.answer(.scanned(digits), to: transaction, by: .init(.local))
  }

  @Test("an unknown name is refused with the list of known ones, and no device is asked")
  func refusesUnknownNames() async throws {
    let fixture = try await fixture()
    let client = try await fixture.register()
    for names in ["gold", "\(Self.signed) gold"] {
      let answer = try await ask(fixture, client, names)
      #expect(try answer.outcome == "400 invalid_request")
      #expect(
        try answer.body.string("error_description").hasSuffix(
          "known names: phr phrh \(Self.signed) \(Self.answered) urn:signet:acr:uaf attested hardware verified."
        )
      )
    }
    #expect(try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now).isEmpty)
  }

  @Test(
    "acr is the first requested name that the answer meets, in both tokens",
    arguments: [
      ("phr urn:signet:acr:answered urn:signet:acr:signed", "urn:signet:acr:answered"),
      ("urn:signet:acr:signed urn:signet:acr:answered", "urn:signet:acr:signed"),
      ("phrh hardware urn:signet:acr:signed", "urn:signet:acr:signed"), (" ", "urn:signet:acr:signed"),
    ])
  func saysWhatIsMet(_ names: String, _ expected: String) async throws {
    let fixture = try await fixture()
    let client = try await fixture.register()
    let id = try await ask(fixture, client, names).id
    try await fixture.decide(.accepted)
    let answer = try await fixture.poll(client, id)
    #expect(try claims(answer).string("acr") == expected)
    #expect(try claims(answer, "access_token").string("acr") == expected)
  }

  @Test("digits do not meet signed content, and meet a requirement for any answer")
  func refusesDigits() async throws {
    let fixture = try await fixture()
    let client = try await fixture.register()
    let id = try await ask(fixture, client, "phr \(Self.signed)").id
    let refusal = try await #require(throws: Problem.self) { try await type(fixture) }
    #expect(
      refusal.detail
        == "Digits cannot meet the requirement: phr needs phishing resistance; \(Self.signed) needs signed content."
    )
    #expect(try await fixture.poll(client, id).outcome == "400 authorization_pending")
    let other = try await ask(fixture, client, "\(Self.signed) \(Self.answered)").id
    try await type(fixture)
    #expect(try await claims(fixture.poll(client, other)).string("acr") == Self.answered)
  }

  @Test(
    "no tokens are issued for a requirement weakened in the database",
    arguments: [
      "backchannel_requests SET expires = expires + 1", "backchannel_requests SET sealed_notice = x'00'",
      "backchannel_requests SET delivery = 'ping'", "backchannel_requests SET code = NULL",
      "transactions SET requirements = NULL", "transactions SET requirements = 'urn:signet:acr:answered'",
    ])
  func weakened(_ change: String) async throws {
    let fixture = try await fixture(on: .sqlite)
    let client = try await fixture.register()
    let id = try await ask(fixture, client, Self.signed).id
    try await fixture.decide(.accepted)
    let database = try Database(path: fixture.server.folder.file("signet.sqlite"), mode: .readWrite)
    try database.execute("UPDATE \(change)")
    let answer = try await fixture.poll(client, id)
    #expect(answer.status == 500 && !answer.body.contains("id_token"))
    #expect(
      fixture.server.capture.lines.contains {
        $0.contains("storage.failed") && $0.contains(change.prefix { $0 != " " })
      })
  }

  @Test("push and ping: a client gets no tokens once the acceptance meets none of the requested names")
  func tellsTheRefusal() async throws {
    let fixture = try await fixture()
    let device = try await fixture.server.activate(device: 2) { $0.keystore = .tpm2 }
    let pushed = try await fixture.register(.push)
    _ = try await ask(fixture, pushed, "hardware")
    try await fixture.decide(.accepted, waiting(fixture), on: device)
    let pinged = try await fixture.register(.ping)
    let id = try await ask(fixture, pinged, "hardware").id
    try await fixture.decide(.accepted, waiting(fixture), on: device)
    var settings = fixture.server.context.settings
    settings.requirements = NamedRequirements()
    fixture.server.context.apply(settings)
    await fixture.sender.sendDue()
    let bodies = try fixture.callback.bodies()
    let body = try #require(bodies.first { $0.contains("error") })
    #expect(try body.string("error") == "access_denied" && body.contains("auth_req_id"))
    #expect(try body.string("error_description").contains("hardware is no longer defined"))
    #expect(!body.contains("id_token") && !body.contains("access_token"))
    #expect(bodies.contains(["auth_req_id": .string(id)]))
    #expect(try await fixture.poll(pinged, id).outcome == "400 access_denied")
    #expect(try await !fixture.server.audit().contains { $0.contains("tokens.issued") })
  }

  @Test("a requirement that no authenticator of the user meets is refused at once")
  func refusesAtOnce() async throws {
    let fixture = try await fixture()
    let client = try await fixture.register()
    for (names, missing) in [
      ("phr", "phr needs phishing resistance"), ("attested", "attested needs a key in attested hardware"),
      (
        "hardware verified",
        "hardware needs a key in hardware; verified needs 2 factors and user verification"
      ),
    ] {
      let answer = try await ask(fixture, client, names)
      #expect(try answer.outcome == "403 access_denied")
      #expect(
        try answer.body.string("error_description")
          == "No authenticator of the user meets the requirement: \(missing).")
    }
    #expect(try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now).isEmpty)
    #expect(try await ask(fixture, client, "attested \(Self.answered)").status == 200)
  }

  @Test("claimed hardware meets only a claimed-hardware requirement; amr asserts a key, not hardware")
  func claimsHardware() async throws {
    let fixture = try await fixture()
    let client = try await fixture.register()
    let simulated = try await fixture.server.activate(device: 3) {
      ($0.keystore, $0.isSimulated) = (.tpm2, true)
    }
    #expect(try await ask(fixture, client, "hardware").outcome == "403 access_denied")
    let claiming = try await fixture.server.activate(device: 2) { $0.keystore = .tpm2 }
    #expect(try await ask(fixture, client, "attested").outcome == "403 access_denied")
    for (device, isMet) in [(claiming, true), (fixture.device, false), (simulated, false)] {
      let id = try await ask(fixture, client, "attested hardware").id
      guard isMet else {
        let transaction = try await waiting(fixture)
        let refusal = try await #require(throws: Problem.self) {
          try await fixture.decide(.accepted, transaction, on: device)
        }
        #expect(refusal.detail.contains("hardware needs a key in hardware"))
        #expect(try await fixture.poll(client, id).outcome == "400 authorization_pending")
        // A denial has no requirements.
        try await fixture.decide(.denied, transaction, on: device)
        continue
      }
      try await fixture.decide(.accepted, waiting(fixture), on: device)
      let answer = try await fixture.poll(client, id)
      #expect(try answer.outcome == "200")
      let claims = try claims(answer)
      #expect(try claims.string("acr") == "hardware" && claims.strings("amr") == ["pop"])
      #expect(try claims.string("signet_key_protection") == "hardwareClaimed")
    }
    let id = try await fixture.ask(client).id
    try await fixture.decide(.accepted)
    let claims = try await claims(fixture.poll(client, id))
    #expect(try claims.strings("amr") == ["swk"] && claims.string("signet_key_protection") == "software")
  }

  @Test("user verification follows from the container's profile")
  func verifiesUsers() async throws {
    let fixture = try await OpenIDFixture { settings in
      settings.profile = ContainerProfile(protection: .biometric, totp: .standard)
      var verified = AuthenticationRequirement()
      (verified.factors, verified.needsUserVerification) = (2, true)
      settings.requirements.own["verified"] = verified
    }
    let client = try await fixture.register()
    let id = try await ask(fixture, client, "verified").id
    try await fixture.decide(.accepted)
    #expect(try await claims(fixture.poll(client, id)).string("acr") == "verified")
  }

  @Test("no answer meets a requirement name that the operator has removed")
  func forgetsNames() async throws {
    let fixture = try await fixture()
    let client = try await fixture.register()
    let first = try await ask(fixture, client, "verified \(Self.signed)").id
    try await fixture.decide(.accepted)
    let device = try await fixture.server.activate(device: 2) { $0.keystore = .tpm2 }
    let second = try await ask(fixture, client, "hardware").id
    try await fixture.decide(.accepted, waiting(fixture), on: device)
    var settings = fixture.server.context.settings
    settings.requirements = NamedRequirements()
    fixture.server.context.apply(settings)
    #expect(try await claims(fixture.poll(client, first)).string("acr") == Self.signed)
    let answer = try await fixture.poll(client, second)
    #expect(try answer.outcome == "400 access_denied")
    #expect(try answer.body.string("error_description").contains("hardware is no longer defined"))
  }
}
