import PostgreSQLFixture
import SignetCrypto
import SignetHTTPClient
import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetSQLite
import SignetStorage
import SignetTesting
import SignetUAF
import Testing
import UAFFixture

/// An attacker who can write to the database, without the master key, cannot decide anything with it.
@Suite(.timeLimit(.minutes(10))) struct UAFRowTests {
  private func status(_ server: UAFServer, _ request: AuthenticationRequest, _ key: UAFTestKey) async throws
    -> Int64
  {
    try await server.uaf(
      "/uaf/1.1/authentication", ["uafResponse": .string(try UAFServer.answer(request, key))]
    ).integer("statusCode")
  }

  @Test("a key swapped with another is refused") func exchangedKey() async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key, on: .sqlite)
    try await server.register(key)
    var thief = key
    thief.privateKey = P256.Signing.PrivateKey()
    thief.signCounter = 2
    let request = try await server.authenticationRequest()
    try server.tamper("UPDATE uaf_credentials SET public_key = ?", .blob(thief.encodedKey))
    #expect(try await status(server, request, thief) == 1500)
    key.signCounter = 2
    #expect(try await server.authenticate(key, "{}").integer("statusCode") == 1500)
    // The key is shown as altered, is offered to no client, and can be removed.
    #expect(try await server.storage.uafCredentials(user: "alice").map(\.state) == [.altered])
    let asked = try await server.uaf(
      "/uaf/1.1/request/authentication", ["op": "Auth", "context": #"{"username":"alice"}"#])
    #expect(try asked.integer("statusCode") == 1404)
    let removal = try await server.uaf(
      "/uaf/1.1/request/deregistration", ["op": "Dereg", "context": #"{"username":"alice"}"#],
      isOrdered: true)
    #expect(try removal.integer("statusCode") == 1200)
    #expect(try await server.storage.uafCredentials(user: "alice").isEmpty)
  }

  @Test("a suspended user whose row is gone does not authenticate") func goneUser() async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key, on: .sqlite)
    try await server.register(key)
    _ = try await server.users.suspend(UserID("alice"), reason: "", by: .local)
    try server.tamper("DELETE FROM users")
    key.signCounter = 2
    #expect(try await server.authenticate(key, "{}").integer("statusCode") == 1404)
  }

  @Test(
    "any change of a key's row is detected",
    arguments: [
      "user_id = 'bob'", "sign_counter = 0", "state = 'active'", "algorithm = 2", "key_format = 257",
      "registration_counter = 9", "authenticator_version = 9", "created = 1", "device = 'other'",
      "model_proof = 'attested'", "model_proof = 'x'", "state = 'x'", "key_protection = 2",
      "last_used = 9",
      "code = NULL",
      "code = zeroblob(32)", "aaid = '7357#0002'", "key_id = zeroblob(32)",
    ])
  func eachColumn(_ change: String) async throws {
    var key = UAFTestKey()
    key.signCounter = 5
    let server = try await UAFServer(key, on: .sqlite)
    try await server.users.add(UserID("bob"), by: .local)
    try await server.register(key)
    if change.hasPrefix("state") {
      // A clone was detected; only an operator can end the quarantine.
      #expect(try await server.authenticate(key).integer("statusCode") == 1498)
      #expect(try await server.storage.uafCredentials(limit: 1).map(\.state) == [.quarantined])
    }
    try server.tamper("UPDATE uaf_credentials SET \(change)")
    #expect(try await server.storage.uafCredentials(limit: 1).map(\.state) == [.altered])
  }

  @Test("a counter lowered between request and response is detected")
  func counterInTheWrite() async throws {
    var key = UAFTestKey()
    key.signCounter = 5
    let server = try await UAFServer(key, on: .sqlite)
    try await server.register(key)
    let event = AuditRecord.sample()
    var session = UAFOperationRecord(
      id: "s", operation: "Auth", user: "alice", created: server.clock.now, expires: .max, state: .requested)
    session.request = [1]
    try await server.storage.addUAFOperation(session, audit: nil)
    try server.tamper("UPDATE uaf_credentials SET sign_counter = 0")
    let use = CounterUpdate(aaid: key.aaid.text, keyID: key.keyID.bytes, signCounter: 1)
    let outcome = try await server.storage.finishUAFAuthentication(
      "s", of: "alice", UAFOperationEnd(status: 1200, time: server.clock.now), uses: [use]
    ) { _ in event }
    #expect(outcome == .altered(use))
    #expect(try await server.storage.uafOperation("s")?.end?.status == 1500)
  }

  @Test("an operation with an unknown state counts as altered") func unknownState() async throws {
    let server = try await UAFServer(UAFTestKey(), on: .sqlite)
    let session = UAFOperationRecord(
      id: "s", operation: "Auth", user: "alice", created: server.clock.now, expires: .max, state: .requested)
    try await server.storage.addUAFOperation(session, audit: nil)
    try server.tamper("UPDATE uaf_sessions SET state = 'x'")
    await #expect(throws: StorageFailure.altered(row: "s", of: "uaf_sessions")) {
      _ = try await server.storage.uafOperation("s")
    }
  }

  @Test("a registration for one user cannot add a key to another") func exchangedUser() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key, on: .sqlite)
    try await server.users.add(UserID("bob"), by: .local)
    let request = try await server.registrationRequest()
    try server.tamper("UPDATE uaf_sessions SET user_id = 'bob'")
    let answer = try await server.uaf(
      "/uaf/1.1/registration", ["uafResponse": .string(try UAFServer.answer(request, key))])
    #expect(try answer.integer("statusCode") == 1500)
    #expect(try await server.storage.uafCredentials(limit: 1).isEmpty)
    #expect(server.capture.lines.contains { $0.contains("storage.failed") && $0.contains("uaf_sessions") })
  }

  @Test(
    "a replaced policy or text in a request is detected",
    arguments: [
      "request = CAST(CAST(request AS TEXT) || ' ' AS BLOB)", "context = '{}'", "expires = expires + 1",
      "requester = 'key:other'",
    ])
  func exchangedRequest(_ change: String) async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key, on: .sqlite)
    try await server.register(key)
    key.signCounter = 2
    let request = try await server.authenticationRequest()
    try server.tamper("UPDATE uaf_sessions SET \(change)")
    #expect(try await status(server, request, key) == 1500)
  }

  @Test("a forged token cannot be redeemed") func madeUpToken() async throws {
    let server = try await UAFServer(UAFTestKey(), on: .sqlite)
    _ = try await server.json(
      "/token/create/authentication", ["op": "Auth", "context": #"{"policy":"default"}"#])
    let own = HashFunction.sha256.digest(of: Array("own".utf8))
    try server.tamper(
      "UPDATE uaf_sessions SET operation = 'Reg', user_id = 'alice', token_digest = ?", .blob(own))
    let answer = try await server.json("/token/redeem/registration", ["token": "own"])
    #expect(try answer.integer("statusCode") == 1500)
  }

  @Test("a forged success of an operation is refused") func forgedStatus() async throws {
    let server = try await UAFServer(UAFTestKey(), on: .sqlite)
    let made = try await server.json(
      "/token/create/authentication", ["op": "Auth", "context": "{}"])
    try server.tamper(
      """
      UPDATE uaf_sessions SET state = 'succeeded', user_id = 'alice', status = 1200, authenticators = '[]', ended = 1
      """)
    _ = try await server.json("/status", ["sessionId": made["sessionId"] ?? ""], status: 500)
  }

  @Test(
    "replaced keys of a device are detected",
    arguments: ["signature_key = ?", "encryption_key = ?", "user_id = 'bob'", "device = 'd2'"])
  func exchangedDeviceKey(_ change: String) async throws {
    let server = try await UAFServer(UAFTestKey(), on: .sqlite)
    try await server.users.add(UserID("bob"), by: .local)
    let device = try await UAFTestDevice(on: server)
    let thief = P256.Signing.PrivateKey()
    let values: [SQLiteValue] =
      change.contains("?") ? [.blob(thief.publicKey.x963Representation)] : []
    try server.tamper("UPDATE uaf_targets SET \(change)", values)
    let answer = try await server.signed(
      .get, "/devices/credentials/d1", device.jws(at: server.clock.now, by: thief))
    #expect(answer.status == 500)
  }

  @Test("a forged UAF acceptance of a transaction is refused") func forgedAcceptance() async throws {
    let server = try await UAFServer(UAFTestKey(), on: .sqlite)
    try await server.activate()
    let id = try await server.json(
      "//main/v1/transactions", ["user": "alice", "text": "Pay 10 to Bob"], status: 201
    ).string("id")
    try server.tamper("UPDATE transactions SET state = 'accepted', uaf_session = 's', decided = 1")
    #expect(try await server.send(.get, "//main/v1/transactions/\(id)", isOrdered: true).status == 500)
  }

  @Test(
    "altered UAF evidence is detected",
    arguments: [
      "content = replace(content, '10', '99')", "state = 'denied'", "state = 'pending'", "decided = 1",
      "uaf_session = NULL", "evidence = NULL", "evidence = zeroblob(3)", "evidence_key = zeroblob(3)",
    ])
  func rewrittenAcceptance(_ change: String) async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key, on: .sqlite)
    try await server.register(key)
    key.signCounter = 2
    let context = #"{"username":"alice","transaction":"Pay 10 to Bob"}"#
    #expect(try await server.authenticate(key, context, isOrdered: true).integer("statusCode") == 1200)
    let listed = try await server.storage.transactions(
      TransactionFilter(), before: nil, at: server.clock.now, limit: 1)
    #expect(listed.first?.uaf != nil && listed.first?.evidence != nil)
    try server.tamper("UPDATE transactions SET \(change)")
    await #expect(throws: StorageFailure.self) {
      try await server.storage.transaction(listed[0].id)
    }
  }
}
