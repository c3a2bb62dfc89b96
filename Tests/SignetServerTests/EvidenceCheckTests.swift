import PostgreSQLFixture
import SignetCrypto
import SignetHTTPClient
import SignetHTTPServer
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetPushAuth
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetUAF
import Testing
import UAFFixture

/// The stored evidence of answers by UAF authenticators and apps, and its later verification (`docs/protocol.md` section 5.2.1).
@Suite(.timeLimit(.minutes(10))) struct EvidenceCheckTests {
  private typealias Failure = EvidenceCheck.Failure

  /// An answered transaction, as a relying party gets it.
  private struct Answered {
    let bench: AuthenticatorBench
    let id: TransactionID
    var object: JSONObject

    init(
      _ kind: AnyAuthenticatorTests.Kind, app answer: PushAuthAnswer = .approve,
      on backend: StorageBackend = .ofServices
    ) async throws {
      bench = try await AuthenticatorBench([kind], on: backend)
      id = try await bench.make("Pay 10").record.id
      let sent = bench.sent()
      if kind == .app {
        #expect(try await bench.post(answer, to: bench.message(sent)).status == 200)
      } else {
        #expect(try await bench.accept(kind, sent) == true)
      }
      object = try await Self.shown(id, bench)
    }

    static func shown(_ id: TransactionID, _ bench: AuthenticatorBench) async throws -> JSONObject {
      try await JSONObject(
        parsing: bench.server.send(.get, "//main/v1/transactions/\(id)", isOrdered: true).body)
    }

    /// The key that only the server has.
    var sharedKey: EvidenceCheck.SharedKey? {
      get async throws { try await EvidenceCheck.SharedKey(ofTransaction: id, bench.server.context) }
    }

    /// Returns the answer with a changed inner object.
    func with(_ name: String, _ change: (inout JSONObject) throws -> Void) throws -> JSONObject {
      var changed = object
      var inner = try object.object(name)
      try change(&inner)
      changed[name] = .object(inner)
      return changed
    }

    /// Returns the answer with a changed first assertion.
    func withAssertion(_ change: (inout JSONObject) throws -> Void) throws -> JSONObject {
      try with("evidence") { evidence in
        guard case .object(var first)? = try evidence.array("assertions").first else {
          throw JSONFailure.missingMember("assertions")
        }
        try change(&first)
        evidence["assertions"] = [.object(first)]
      }
    }
  }

  private func failure(
    _ object: JSONObject, key: P256.Signing.PublicKey? = nil,
    serverKeys: [P256.Signing.PublicKey]? = nil, _ sharedKey: EvidenceCheck.SharedKey? = nil
  ) -> Failure? {
    do throws(Failure) {
      _ = try EvidenceCheck(object.text, key: key, serverKeys: serverKeys, sharedKey: sharedKey)
    } catch { return error }
    return nil
  }

  /// The member that a failure names.
  private func named(_ failure: Failure?) -> String? {
    switch failure {
    case .altered(let member), .malformed(let member), .contradicts(let member, _),
      .refused(let member, _), .notAuthentic(let member):
      member
    case .statement: "statement"
    default: nil
    }
  }

  /// Returns each variant of a text with one changed character.
  private func changes(of text: String) -> [String] {
    let bytes = Array(text.utf8)
    return bytes.indices.compactMap { index in
      var changed = bytes
      changed[index] ^= 1
      return String(validating: changed, as: UTF8.self)
    }
  }

  // MARK: What holds

  @Test("stored UAF evidence proves who answered what, to which request and when")
  func uaf() async throws {
    let answered = try await Answered(.uaf)
    let check = try EvidenceCheck(answered.object.text)
    #expect(check.kind == .uaf && check.status == .accepted)
    #expect(check.transaction == answered.id.text && check.user == "alice")
    #expect(check.server == answered.bench.server.context.settings.serverURL.fullForm)
    #expect(try check.content == answered.object.string("content"))
    #expect(check.time == answered.bench.server.clock.now)
    let own = answered.bench.key.privateKey.publicKey
    let keys = try await SigningKeyService(answered.bench.server.context).published().keys
    #expect(failure(answered.object, key: own, serverKeys: keys) == nil)
    #expect(failure(answered.object, key: P256.Signing.PrivateKey().publicKey) == .otherKey)
    #expect(failure(answered.object, serverKeys: [own]) == .otherServerKey)
    let text = answered.object.text
    #expect(try EvidenceCheck(text, content: check.content).kind == .uaf)
    #expect(throws: Failure.otherContent) { try EvidenceCheck(text, content: "{}") }
    // Also after the key is removed from the server.
    _ = try await answered.bench.server.storage.removeUAFCredentials(of: "alice", [UAFKeySelection()]) {
      _, _ in .sample()
    }
    let later = try await Answered.shown(answered.id, answered.bench)
    #expect(failure(later) == nil)
  }

  private static let keyKinds: [(UAFAlgorithm, UAFKeyFormat)] = [
    (.p256DER, .x962DER), (.secp256k1RAW, .x962RAW), (.rsaPSSRAW, .rsa2048RAW), (.rsaPKCS1DER, .rsa2048DER),
  ]

  @Test("keys of all algorithms and forms are verified", arguments: keyKinds)
  func algorithms(_ algorithm: UAFAlgorithm, _ format: UAFKeyFormat) async throws {
    var key = UAFTestKey(algorithm, format)
    let server = try await UAFServer(key)
    try await server.register(key)
    key.signCounter = 2
    let context = #"{"username":"alice","transaction":"Pay 10 to Bob"}"#
    #expect(try await server.authenticate(key, context, isOrdered: true).integer("statusCode") == 1200)
    let found = try await server.storage.transactions(
      TransactionFilter(), before: nil, at: server.clock.now, limit: 1)
    let response = try await server.send(
      .get, "//main/v1/transactions/\(try #require(found.first).id)", isOrdered: true)
    let object = try JSONObject(parsing: response.body)
    // An operation by the relying party itself shows only its text.
    #expect(try object.object("evidence").string("text") == "Pay 10 to Bob")
    #expect(failure(object) == nil)
  }

  @Test("an app's answers are verified by the server's key only, also after the app is removed")
  func app() async throws {
    for (answer, status) in [(PushAuthAnswer.approve, TransactionRecord.State.accepted), (.deny, .denied)] {
      let answered = try await Answered(.app, app: answer)
      #expect(failure(answered.object) == .sharedKeyMissing)
      #expect(Failure.sharedKeyMissing.description.contains("only the app and the server"))
      let storage = answered.bench.server.storage
      let mechanism = try #require(await storage.pushAuthMechanisms(user: "alice").first).id
      #expect(try await storage.removePushAuthMechanism(mechanism, audit: .sample()))
      let check = try EvidenceCheck(answered.object.text, sharedKey: await answered.sharedKey)
      #expect(check.kind == .app && check.status == status && check.user == "alice")
      #expect(check.time == answered.bench.server.clock.now)
      let other = EvidenceCheck.SharedKey(try PushAuthKey(.random(byteCount: 32)))
      #expect(failure(answered.object, other) == .notAuthentic(member: "message"))
      // The key that opens the answer never leaves the server.
      let sealed = try #require(await storage.transaction(answered.id)?.evidence?.sealedKey)
      #expect(!answered.object.text.contains(Base64URL.encode(sealed)))
    }
  }

  @Test("a number chosen in an app is verified, and a wrong one as a denial")
  func numbers() async throws {
    for isRight in [true, false] {
      let bench = try await AuthenticatorBench([.app])
      let made = try await bench.make("Pay 10", numberDigits: 2)
      let right = try #require(made.number?.digits)
      let message = try bench.message(bench.sent())
      let number = try #require(message.numbers.map(String.init).first { ($0 == right) == isRight })
      #expect(try await bench.post(.number(number), to: message).status == (isRight ? 200 : 400))
      let object = try await Answered.shown(made.record.id, bench)
      let key = try #require(
        try await EvidenceCheck.SharedKey(ofTransaction: made.record.id, bench.server.context))
      let check = try EvidenceCheck(object.text, sharedKey: key)
      #expect(check.status == (isRight ? .accepted : .denied))
      guard !isRight else { continue }
      // An answer that presents this denial as the user's own does not match the evidence.
      var changed = object
      changed["end"] = nil
      #expect(failure(changed, key) == .altered(member: "reason"))
    }
  }

  @Test("a transaction without an answer has no evidence; the error names its status")
  func none() async throws {
    let bench = try await AuthenticatorBench([.uaf])
    let id = try await bench.make("Pay 10").record.id
    let request = try await bench.redeem(bench.sent())
    // A signature by another key is rejected.
    var other = bench.key
    other.privateKey = P256.Signing.PrivateKey()
    let refused = try await bench.server.uaf(
      "/uaf/1.1/authentication", ["uafResponse": .string(try UAFServer.answer(request, other))])
    #expect(try refused.integer("statusCode") == 1498)
    #expect(try await bench.server.storage.transaction(id)?.evidence == nil)
    let waiting = try await Answered.shown(id, bench)
    #expect(failure(waiting) == .noAnswer(status: "pending"))
    bench.server.clock.advance(by: 86_400)
    let expired = try await Answered.shown(id, bench)
    #expect(failure(expired) == .noAnswer(status: "expired"))
    #expect(throws: Failure.decision(.notADecision)) { try EvidenceCheck("{}") }
    let key = try await EvidenceCheck.SharedKey(ofTransaction: id, bench.server.context)
    #expect(key == nil)
  }

  @Test("a response above the storage limit is refused and decides nothing")
  func tooLong() async throws {
    let bench = try await AuthenticatorBench([.uaf])
    let id = try await bench.make("Pay 10").record.id
    let request = try await bench.redeem(bench.sent())
    let params = FinalChallengeParams(
      appID: request.header.appID ?? "", challenge: request.challenge, facetID: UAFServer.facet)
    let final = try FinalChallenge(
      parsing: Base64URL.encode(params.json.bytes + [UInt8](repeating: 0x20, count: 24_000)))
    let assertion = try bench.key.authenticationAssertion(
      bench.key.authenticationElements(
        final.hash, transactionHash: try #require(request.transactions.first).hash))
    let response = AuthenticationResponse(
      header: request.header, finalChallenge: final, assertions: [ResponseAssertion(bytes: assertion)])
    let answer = try await bench.server.uaf(
      "/uaf/1.1/authentication", ["uafResponse": .string(response.text)])
    #expect(try answer.integer("statusCode") == 1498)
    #expect(try await bench.server.storage.transaction(id)?.state == .pending)
  }

  // MARK: What was altered

  @Test("one changed character in UAF evidence is detected, and its member is named")
  func bindsUAF() async throws {
    let answered = try await Answered(.uaf)
    try expectNamed(
      answered, nil, ["id", "user", "content", "status"], ["appID", "challenge", "fcParams", "text"])
    let first = try answered.withAssertion { _ in }
    #expect(failure(first) == nil)
    for member in ["aaid", "keyID", "publicKey", "assertion"] {
      guard case .object(let own)? = try answered.object.object("evidence").array("assertions").first else {
        throw JSONFailure.missingMember("assertions")
      }
      for text in changes(of: try own.string(member)) {
        let changed = try answered.withAssertion { $0[member] = .string(text) }
        #expect(named(failure(changed)) == "assertions[0].\(member)", "\(member): \(text)")
      }
    }
    for member in ["keyFormat", "algorithm"] {
      let changed = try answered.withAssertion { $0[member] = .integer(try $0.integer(member) + 1) }
      #expect(named(failure(changed)) == "assertions[0].\(member)")
    }
    let fewer = try answered.with("evidence") { $0["assertions"] = [] }
    #expect(named(failure(fewer)) == "assertions")
    let session = try answered.with("uaf") { $0["session"] = "other" }
    #expect(failure(session) == .altered(member: "session"))
    let time = try answered.with("uaf") { $0["time"] = .integer(try $0.integer("time") + 1) }
    #expect(failure(time) == .altered(member: "time"))
  }

  @Test("one changed character in an app's evidence is detected, and its member is named")
  func bindsApp() async throws {
    let answered = try await Answered(.app)
    let key = try await answered.sharedKey
    #expect(key != nil)
    try expectNamed(answered, key, ["id", "user", "content", "status"], ["message", "answer"])
    let mechanism = try answered.with("app") { $0["mechanism"] = "other" }
    #expect(failure(mechanism, key) == .altered(member: "mechanism"))
    let time = try answered.with("app") { $0["time"] = .integer(try $0.integer("time") - 1) }
    #expect(failure(time, key) == .altered(member: "time"))
  }

  private func expectNamed(
    _ answered: Answered, _ key: EvidenceCheck.SharedKey?, _ outer: [String], _ inner: [String]
  ) throws {
    #expect(failure(answered.object, key) == nil)
    for member in outer {
      for text in changes(of: try answered.object.string(member)) {
        var changed = answered.object
        changed[member] = .string(text)
        #expect(failure(changed, key) == .altered(member: member), "\(member): \(text)")
      }
    }
    for member in ["created", "expires"] {
      var changed = answered.object
      changed[member] = .integer(try changed.integer(member) + 1)
      #expect(failure(changed, key) == .altered(member: member))
    }
    for member in inner + ["statement"] {
      for text in changes(of: try answered.object.object("evidence").string(member)) {
        let changed = try answered.with("evidence") { $0[member] = .string(text) }
        #expect(named(failure(changed, key)) == member, "\(member): \(text)")
      }
    }
    for text in changes(of: try answered.object.object("evidence").string("serverKey")) {
      let changed = try answered.with("evidence") { $0["serverKey"] = .string(text) }
      // Another point on the curve is a valid key, but has signed nothing.
      let name = named(failure(changed, key))
      #expect(name == "serverKey" || name == "statement", "\(text)")
    }
    for member in inner + ["kind", "statement", "serverKey"] {
      let changed = try answered.with("evidence") { $0[member] = nil }
      #expect(named(failure(changed, key)) == member)
    }
    let without = try answered.with("evidence") { $0 = [:] }
    #expect(named(failure(without, key)) == "kind")
    var stripped = answered.object
    stripped["evidence"] = nil
    let status = try answered.object.string("status")
    #expect(failure(stripped, key) == .noAnswer(status: status))
  }

  /// Returns the answer with replaced evidence, stated under an attacker's key; the user's signature stays.
  private func restated(
    _ object: JSONObject, _ members: [(name: String, digested: [UInt8])], _ claims: JSONObject = [:]
  ) throws -> JSONObject {
    let key = P256.Signing.PrivateKey()
    var evidence = try object.object("evidence")
    let statement = try JWS(compact: evidence.string("statement"))
    var stated = try JSONObject(parsing: statement.unverifiedPayload)
    var digests = try stated.object("digests")
    for (name, bytes) in members {
      digests[name] = .string(Base64URL.encode(HashFunction.sha256.digest(of: bytes)))
    }
    stated["digests"] = .object(digests)
    for (name, value) in claims.members { stated[name] = value }
    evidence["statement"] = .string(
      try JWS.sign(
        stated.bytes, with: SigningKey(key, keyID: key.publicKey.thumbprint), type: "signet-evidence"))
    evidence["serverKey"] = .string(Base64URL.encode(key.publicKey.x963Representation))
    var changed = object
    changed["evidence"] = .object(evidence)
    return changed
  }

  @Test("a statement signed anew with another server's key is detected by the authenticator's signature")
  func restatedUAF() async throws {
    let answered = try await Answered(.uaf)
    let keys = try await SigningKeyService(answered.bench.server.context).published().keys
    let own = try restated(answered.object, [])
    #expect(failure(own) == nil && failure(own, serverKeys: keys) == .otherServerKey)

    let other = #"{"from":"Shop","text":"Pay 99"}"#
    let shown = "From: Shop\nPay 99"
    let content = Array(other.utf8)
    var changed = answered.object
    changed["content"] = .string(other)
    #expect(
      try failure(restated(changed, [("content", content)])) == .contradicts(member: "text", by: "content"))
    var evidence = try changed.object("evidence")
    evidence["text"] = .string(shown)
    changed["evidence"] = .object(evidence)
    let text = try restated(changed, [("content", content), ("text", Array(shown.utf8))])
    #expect(failure(text) == .refused(member: "assertions[0].assertion", .transactionHash))

    let final = try FinalChallenge(parsing: answered.object.object("evidence").string("fcParams"))
    let elsewhere = FinalChallenge(
      FinalChallengeParams(
        appID: final.params.appID, challenge: final.params.challenge, facetID: "https://elsewhere.example"))
    let caller = try restated(
      answered.with("evidence") { $0["fcParams"] = .string(elsewhere.text) },
      [("fcParams", Array(elsewhere.text.utf8))])
    #expect(failure(caller) == .refused(member: "assertions[0].assertion", .finalChallengeHash))
    let challenge = [UInt8](repeating: 7, count: 32)
    let replayed = try restated(
      answered.with("evidence") { $0["challenge"] = .string(Base64URL.encode(challenge)) },
      [("challenge", challenge)])
    #expect(failure(replayed) == .contradicts(member: "challenge", by: "fcParams"))
    let app = try restated(
      answered.with("evidence") { $0["appID"] = "https://other.example" },
      [("appID", Array("https://other.example".utf8))])
    #expect(failure(app) == .contradicts(member: "appID", by: "fcParams"))

    let thief = P256.Signing.PrivateKey().publicKey.x963Representation
    let stolen = try restated(
      answered.withAssertion { $0["publicKey"] = .string(Base64URL.encode(thief)) },
      [("assertions[0].publicKey", thief)])
    #expect(failure(stolen) == .refused(member: "assertions[0].assertion", .signature))
    for (member, value) in [("aaid", "7357#0002"), ("keyID", Base64URL.encode(challenge))] {
      let digested = member == "aaid" ? Array(value.utf8) : challenge
      let moved = try restated(
        answered.withAssertion { $0[member] = .string(value) }, [("assertions[0].\(member)", digested)])
      let found = failure(moved)
      #expect(
        found == .contradicts(member: "assertions[0].\(member)", by: "assertions[0].assertion"), "\(member)"
      )
    }
    var withNo = answered.object
    withNo["status"] = "denied"
    let denied = try restated(withNo, [], ["status": "denied"])
    #expect(failure(denied) == .contradicts(member: "status", by: "kind"))

    guard case .object(let first)? = try answered.object.object("evidence").array("assertions").first else {
      throw JSONFailure.missingMember("assertions")
    }
    let bytes = try Base64URL.decode(first.string("assertion"))
    for index in bytes.indices {
      var altered = bytes
      altered[index] ^= 1
      let object = try restated(
        answered.withAssertion { $0["assertion"] = .string(Base64URL.encode(altered)) },
        [("assertions[0].assertion", altered)])
      let name = named(failure(object))
      #expect(name?.hasPrefix("assertions[0].") == true, "byte \(index)")
    }
  }

  @Test("re-creating an app's answer requires the app's key")
  func restatedApp() async throws {
    let answered = try await Answered(.app, app: .deny)
    let key = try await answered.sharedKey
    var accepted = answered.object
    accepted["status"] = "accepted"
    #expect(
      try failure(restated(accepted, [], ["status": "accepted"]), key)
        == .contradicts(member: "status", by: "answer"))
    for member in ["message", "answer"] {
      let token = try answered.object.object("evidence").string(member)
      // Another payload with the MAC of the first.
      var parts = token.split(separator: ".").map(String.init)
      var claims = try JWS(compact: token).unverifiedPayload
      claims.insert(0x20, at: 1)
      parts[1] = Base64URL.encode(claims)
      let other = parts.joined(separator: ".")
      let object = try restated(
        answered.with("evidence") { $0[member] = .string(other) }, [(member, Array(other.utf8))])
      #expect(failure(object, key) == .notAuthentic(member: member))
    }
    var elsewhere = answered.object
    elsewhere["content"] = #"{"from":"Shop","text":"Pay 99"}"#
    let content = Array(try elsewhere.string("content").utf8)
    #expect(
      try failure(restated(elsewhere, [("content", content)]), key)
        == .contradicts(member: "message", by: "content"))
  }

  @Test(
    "the evidence of an app's answer cannot be altered in the database",
    arguments: [
      "evidence = NULL", "evidence = zeroblob(3)", "evidence_key = NULL", "evidence_key = zeroblob(60)",
    ])
  func rows(_ change: String) async throws {
    let answered = try await Answered(.app, on: .sqlite)
    try answered.bench.server.tamper("UPDATE transactions SET \(change)")
    await #expect(throws: StorageFailure.altered(row: answered.id.text, of: "transactions")) {
      try await answered.bench.server.storage.transaction(answered.id)
    }
  }
}
