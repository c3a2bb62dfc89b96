import Foundation
import PostgreSQLFixture
import SignetCrypto
import SignetHTTPServer
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetTestKit
import Testing

/// The token endpoint (CIBA sections 10.1 and 11), and the contents of the tokens.
@Suite(.timeLimit(.minutes(10))) struct TokenGrantTests {
  @Test("a client polls until the user accepts, then gets tokens with user and decision")
  func getsTokens() async throws {
    let fixture = try await OpenIDFixture()
    for authentication in ClientRecord.Authentication.allCases {
      let client = try await fixture.register(.poll, authentication)
      let id = try await fixture.ask(client).id
      #expect(try await fixture.poll(client, id).outcome == "400 authorization_pending")
      fixture.server.clock.advance(by: 5)
      let decided = fixture.now
      try await fixture.decide(.accepted)
      let answer = try await fixture.poll(client, id)
      #expect(answer.status == 200 && answer.headers["Pragma"] == "no-cache")
      #expect(try answer.body.string("token_type") == "Bearer" && answer.body.integer("expires_in") == 300)
      #expect(try answer.body.string("scope") == "openid")
      let described = Set(TokenAnswer.schema.members.map(\.name))
      #expect(Set(answer.body.members.map(\.name)) == described, "the description has what is sent")

      let published = try await SigningKeyService(fixture.server.context).published().json
      let keys = VerificationKeySet(try JWKSet(published))
      let verified = try JWS(compact: answer.body.string("id_token")).verified(with: keys, allowing: [.es256])
      let subject = try #require(try await fixture.server.storage.user("alice")).subject
      let claims = try verified.claims(
        JWTValidation(issuer: fixture.issuer, subject: subject, audiences: [client.id.text], type: "JWT"),
        now: fixture.now
      ).all
      #expect(try claims.integer("auth_time") == decided && claims.integer("exp") == fixture.now + 300)
      #expect(try claims.strings("amr") == ["swk"] && claims.string("acr") == "urn:signet:acr:signed")
      #expect(try claims.string("signet_user") == "alice")
      #expect(!claims.contains("urn:openid:params:jwt:claim:auth_req_id"))

      // The user's signature can be verified without the server.
      let key = try JWK(claims.object("signet_key"))
      guard case .p256(let userKey, _) = key.material else { throw JOSEFailure.invalidKey }
      #expect(userKey == fixture.device.signing.publicKey)
      let decision = try #require(Decision(verifying: claims.string("signet_decision"), signedBy: userKey))
      #expect(decision.status == .accepted && decision.content.contains("Sign in"))

      let access = try answer.body.string("access_token")
      let digest = HashFunction.sha256.digest(of: Array(access.utf8))
      #expect(try claims.string("at_hash") == Base64URL.encode(Array(digest.prefix(16))))
      let accessClaims = try JWS(compact: access).verified(with: keys, allowing: [.es256]).claims(
        JWTValidation(issuer: fixture.issuer, subject: subject, audiences: [fixture.issuer], type: "at+jwt"),
        now: fixture.now
      ).all
      #expect(
        try accessClaims.string("client_id") == client.id.text && accessClaims.string("scope") == "openid")

      #expect(try await fixture.poll(client, id).outcome == "400 invalid_grant", "a second time")
    }
  }

  @Test func refusesWhatIsNoRequestOfTheClient() async throws {
    let fixture = try await OpenIDFixture()
    let (client, stranger) = (try await fixture.register(), try await fixture.register())
    let pushed = try await fixture.register(.push)
    let id = try await fixture.ask(client).id
    try await fixture.decide(.accepted)
    #expect(try await fixture.poll(stranger, id).outcome == "400 invalid_grant")
    #expect(try await fixture.poll(client, id + "A").outcome == "400 invalid_grant")
    #expect(try await fixture.poll(client, String(repeating: "a", count: 129)).outcome == "400 invalid_grant")
    let pushedID = try await fixture.ask(pushed).id
    #expect(try await fixture.poll(pushed, pushedID).outcome == "400 unauthorized_client")
    func outcome(_ parameters: [(String, String)]) async throws -> String {
      try await fixture.token(client, client.proof(at: fixture.now) + parameters).outcome
    }
    #expect(try await outcome([("auth_req_id", id)]) == "400 invalid_request")
    #expect(try await outcome([("grant_type", OpenIDFixture.grant)]) == "400 invalid_request")
    #expect(
      try await outcome([("grant_type", "client_credentials"), ("auth_req_id", id)])
        == "400 unsupported_grant_type")
    #expect(try await fixture.poll(client, id).outcome == "200")
  }

  @Test("a client that polls too often waits five seconds longer each time")
  func slowsDown() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register()
    let id = try await fixture.ask(client, [("login_hint", "alice"), ("requested_expiry", "1000")]).id
    func poll(after seconds: Int64) async throws -> String {
      fixture.server.clock.advance(by: seconds)
      return try await fixture.poll(client, id).outcome
    }
    #expect(try await poll(after: 0) == "400 authorization_pending")
    #expect(try await poll(after: 5) == "400 authorization_pending")
    #expect(try await poll(after: 3) == "400 slow_down")
    #expect(try await poll(after: 8) == "400 slow_down")
    #expect(try await poll(after: 15) == "400 authorization_pending")
    for _ in 0..<15 { #expect(try await poll(after: 1) == "400 slow_down") }
    #expect(try await poll(after: 60) == "400 authorization_pending", "a minute is always enough")
    // A clock that was set back causes no wait, and a decision is available at once.
    #expect(try await poll(after: -100) == "400 authorization_pending")
    try await fixture.decide(.accepted)
    #expect(try await poll(after: 0) == "200")
  }

  @Test("each outcome has its own answer, which does not change")
  func answersEachEnd() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register()
    func expect(_ outcome: String, _ end: (TransactionID) async throws -> Void) async throws {
      let id = try await fixture.ask(client).id
      let waiting = try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now)
      try await end(try #require(waiting.last).id)
      for _ in 0..<2 { #expect(try await fixture.poll(client, id).outcome == outcome) }
      try await fixture.server.codes.unlock(UserID("alice"), by: .local)
    }
    try await expect("400 access_denied") { _ in try await fixture.decide(.denied) }
    try await expect("400 access_denied") { _ in try await fixture.decide(.reported) }
    try await expect("400 access_denied") { id in
      try await fixture.server.transactions.cancel(
        Array(#"{"reason":"userCancel"}"#.utf8), id: id, by: fixture.device.send(to: fixture.server))
    }
    try await expect("400 transaction_failed") { id in
      try await fixture.server.transactions.withdraw(id, reason: "", by: .local)
    }
    try await expect("400 expired_token") { _ in fixture.server.clock.advance(by: 300) }
    try await expect("400 expired_token") { _ in
      fixture.server.clock.advance(by: 300)
      try await fixture.sweep()
    }
  }

  @Test("tokens of a decision in the last second are available for half a minute")
  func keepsALateDecision() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register()
    var ids: [String] = []
    for _ in 0..<2 { ids.append(try await fixture.ask(client).id) }
    fixture.server.clock.advance(by: 299)
    for _ in 0..<2 { try await fixture.decide(.accepted) }
    fixture.server.clock.advance(by: 30)
    #expect(try await fixture.poll(client, ids[0]).outcome == "200")
    fixture.server.clock.advance(by: 1)
    #expect(try await fixture.poll(client, ids[1]).outcome == "400 expired_token")
    fixture.server.clock.advance(by: -30)
    #expect(try await fixture.poll(client, ids[1]).outcome == "400 expired_token", "a told end is final")
    fixture.server.clock.advance(by: 86_430)
    try await fixture.sweep()
    #expect(try await fixture.poll(client, ids[1]).outcome == "400 invalid_grant", "forgotten")
  }

  @Test("request ids, tokens and notification tokens are not in the database in clear")
  func keepsNoSecrets() async throws {
    let fixture = try await OpenIDFixture(on: .sqlite)
    let (polling, pushed) = (try await fixture.register(), try await fixture.register(.push))
    let id = try await fixture.ask(polling).id
    try await fixture.decide(.accepted)
    let tokens = try await fixture.poll(polling, id).body
    _ = try await fixture.ask(pushed)
    let secrets = [id, try tokens.string("access_token"), try tokens.string("id_token"), "n-0.token~+/=="]
    var isClientFound = false
    for name in try FileManager.default.contentsOfDirectory(atPath: fixture.server.folder.path) {
      let data = try Data(contentsOf: URL(filePath: fixture.server.folder.file(name)))
      for secret in secrets { #expect(data.range(of: Data(secret.utf8)) == nil, "\(name): \(secret)") }
      isClientFound = isClientFound || data.range(of: Data(polling.id.text.utf8)) != nil
    }
    // The control of the search: the client's ID is stored in plain text.
    #expect(isClientFound)
  }

  @Test("of 50 concurrent token requests over two database connections one succeeds")
  func oneGetsThem() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.poll, .clientSecretBasic)
    let id = try await fixture.ask(client).id
    try await fixture.decide(.accepted)
    let other = try Storage(fixture.server.location)
    let context = ServiceContext(
      settings: fixture.server.context.settings, storage: other, masterKey: fixture.server.context.masterKey,
      clock: fixture.server.clock, log: fixture.server.capture.log)
    let record = try #require(try await other.client(client.id))
    let form = try FormParameters(
      Array(OpenIDFixture.form([("grant_type", OpenIDFixture.grant), ("auth_req_id", id)]).utf8))
    let outcomes = await withTaskGroup(of: String.self) { group in
      for number in 0..<50 {
        let grant = TokenGrant(number % 2 == 0 ? fixture.server.context : context)
        group.addTask {
          do {
            _ = try await grant.answer(form, to: record)
            return "tokens"
          } catch { return (error as? OpenIDFailure)?.code.rawValue ?? "\(error)" }
        }
      }
      return await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(outcomes.count { $0 == "tokens" } == 1)
    #expect(outcomes.count { $0 == "invalid_grant" } == 49)
    #expect(try await fixture.server.audit().count { $0.contains("tokens.issued") } == 1)
    await other.close()
  }

  @Test("concurrent polls, decision, withdrawal and expiry: one outcome, tokens only for an acceptance")
  func oneEnd() async throws {
    let fixture = try await OpenIDFixture()
    let client = try await fixture.register(.poll, .clientSecretBasic)
    for round in 0..<8 {
      let id = try await fixture.ask(client).id
      let waiting = try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now)
      let asked = try #require(waiting.last)
      let transaction = asked.id
      let outcomes = await withTaskGroup(of: String.self) { group in
        group.addTask { await Self.ended { try await fixture.decide(.accepted, asked) } }
        group.addTask {
          await Self.ended {
            try await fixture.server.transactions.withdraw(transaction, reason: "", by: .local)
          }
        }
        if round % 2 == 0 {
          group.addTask {
            await Self.ended {
              fixture.server.clock.advance(by: 300)
              try await fixture.sweep()
            }
          }
        }
        for _ in 0..<20 {
          group.addTask {
            do { return try await fixture.poll(client, id).outcome } catch { return "\(error)" }
          }
        }
        return await group.reduce(into: [String]()) { $0.append($1) }
      }
      let last = try await fixture.poll(client, id).outcome
      let record = try #require(try await fixture.server.storage.transaction(transaction))
      let given = outcomes.count { $0 == "200" } + (last == "200" ? 1 : 0)
      switch record.state(at: fixture.now) {
      case .accepted: #expect(given == 1, "\(outcomes) \(last)")
      case .withdrawn: #expect(given == 0 && last == "400 transaction_failed", "\(outcomes) \(last)")
      case .expired: #expect(given == 0 && last == "400 expired_token", "\(outcomes) \(last)")
      default: Issue.record("\(record.state)")
      }
      try await fixture.server.codes.unlock(UserID("alice"), by: .local)
    }
  }

  private static func ended(_ body: () async throws -> Void) async -> String {
    do { try await body() } catch { return "\(error)" }
    return "done"
  }

  @Test("no tokens for a revoked device, unless the device has a new container")
  func needsTheDevice() async throws {
    let fixture = try await OpenIDFixture()
    let (client, users) = (try await fixture.register(), UserService(fixture.server.context))
    let id = try await fixture.ask(client).id
    try await fixture.decide(.accepted)
    let container = try #require(fixture.device.container)
    _ = try await users.revokeContainer(container, by: .local)
    #expect(try await fixture.poll(client, id).outcome == "400 access_denied")
    // Another device of the same user does not replace it.
    _ = try await fixture.server.activate(device: 2)
    fixture.server.clock.advance(by: 5)
    #expect(try await fixture.poll(client, id).outcome == "400 access_denied")
    #expect(try await !fixture.server.audit().contains { $0.contains("tokens.issued") })
    _ = try await fixture.server.activate(device: 1)
    fixture.server.clock.advance(by: 5)
    #expect(try await fixture.poll(client, id).outcome == "200")
  }

  @Test("no tokens for a suspended user, for pending and accepted requests")
  func needsTheUser() async throws {
    let fixture = try await OpenIDFixture()
    let (client, users) = (try await fixture.register(), UserService(fixture.server.context))
    let accepted = try await fixture.ask(client).id
    try await fixture.decide(.accepted)
    let open = try await fixture.ask(client).id
    _ = try await users.suspend(UserID("alice"), reason: "", by: .local)
    for id in [accepted, open] { #expect(try await fixture.poll(client, id).outcome == "400 access_denied") }
    #expect(try await !fixture.server.audit().contains { $0.contains("tokens.issued") })
    _ = try await users.resume(UserID("alice"), by: .local)
    #expect(try await fixture.poll(client, open).outcome == "400 access_denied")
    #expect(try await fixture.poll(client, accepted).outcome == "200")
  }

  @Test("an answer by typed digits: the token states it and has no decision")
  func answeredWithoutANetwork() async throws {
    let fixture = try await OpenIDFixture()
    let (client, transactions) = (try await fixture.register(), fixture.server.transactions)
    let unnamed = try await fixture.ask(client).id
    let unsigned = try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now)
    await #expect(throws: Problem.self, "signed content is demanded where nothing is named") {
      try await transactions.answer(.scanned("12345678"), to: #require(unsigned.first).id, by: .init(.local))
    }
    try await fixture.decide(.denied)
    #expect(try await fixture.poll(client, unnamed).outcome == "400 access_denied")
    let id = try await fixture.ask(
      client, [("login_hint", "alice"), ("acr_values", "urn:signet:acr:answered")]
    ).id
    let waiting = try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now)
    let transaction = try #require(waiting.first).id
    let carried = try OfflineTransaction(
      verifying: await transactions.offline(transaction), signedBy: #require(fixture.device.serverKey))
    let (secret, container) = (try #require(fixture.device.otpSecret), try #require(fixture.device.container))
    let digits = secret.withSecret { carried.answer(otpSecret: $0, container: container) }
    try await transactions.answer(.scanned(digits), to: transaction, by: .init(.local))
    let token = try await fixture.poll(client, id).body.string("id_token")
    let claims = try JSONObject(parsing: JWS(compact: token).unverifiedPayload)
    #expect(try claims.string("acr") == "urn:signet:acr:answered" && claims.strings("amr") == ["otp"])
    #expect(!claims.contains("signet_decision") && !claims.contains("signet_key"))
  }

  @Test(
    "a reused user id gets a new subject, so that old ID tokens identify no user")
  func subjects() async throws {
    let fixture = try await OpenIDFixture()
    let (client, users) = (try await fixture.register(), UserService(fixture.server.context))
    let id = try await fixture.ask(client).id
    let waiting = try await fixture.server.storage.pendingTransactions(user: "alice", at: fixture.now)
    let request = try #require(waiting.first).id
    try await fixture.decide(.accepted)
    let token = try await fixture.poll(client, id).body.string("id_token")
    #expect(try await fixture.server.transactions.find(request).1 != nil)
    let subject = try JSONObject(parsing: JWS(compact: token).unverifiedPayload).string("sub")
    let alice = UserID("alice")
    #expect(try await users.find(alice).subject == subject)
    let left = try await users.delete(alice, by: .local)
    #expect(left.id.text == subject && left.state == .deleted)
    // The signed decision contained the user's name, so it is removed; the decision does not count as typed digits.
    let (kept, container) = try await fixture.server.transactions.find(request)
    #expect(kept.user?.text == subject && kept.decision?.jws == nil && container == nil)
    try await users.add(alice, by: .local)
    let other = try await users.find(alice).subject
    #expect(other != subject && [other, subject].allSatisfy { $0.hasPrefix("~") && $0.utf8.count == 23 })
    #expect(
      try await fixture.ask(client, [("id_token_hint", token)]).outcome == "403 access_denied")
    #expect(try await users.containers(of: alice).isEmpty)
    await #expect(throws: Problem.self) { try await users.add(UserID(subject), by: .local) }
  }
}
