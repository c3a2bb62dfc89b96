import SignetCrypto
import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetUAF
import Testing
import UAFFixture

/// Rejections over the endpoints: each case is a valid message with one error.
@Suite(.timeLimit(.minutes(10))) struct UAFRefusalTests {
  private static let operations: [UAFOperation] = [.registration, .authentication]

  /// Sends spoiled responses to one server, each for a new user with a new key.
  private func refuse(
    _ spoilings: [UAFSpoiling], _ operation: UAFOperation, isDER: Bool = false, transaction: String? = nil
  ) async throws {
    let server = try await UAFServer(UAFTestKey(isDER: isDER))
    for (number, spoiling) in spoilings.enumerated() {
      let user: UserID = "user-\(number)"
      try await server.users.add(user, by: .local)
      try await refuse(spoiling, operation, at: server, of: user, UAFTestKey(isDER: isDER), transaction)
    }
  }

  /// Sends a spoiled response, and expects its status and no effect.
  private func refuse(
    _ spoiling: UAFSpoiling, _ operation: UAFOperation, at server: UAFServer, of user: UserID,
    _ key: UAFTestKey, _ transaction: String?
  ) async throws {
    var key = key
    let place: Comment = "\(spoiling.name), \(operation)"
    var context: JSONObject = ["username": .string(user.text)]
    if operation == .authentication {
      var registration = UAFAttempt(.registration)
      registration.context = context.text
      #expect(try await registration.send(to: server, key).integer("statusCode") == 1200, place)
      key.signCounter += 1
    }
    if let transaction { context["transaction"] = .string(transaction) }
    var attempt = UAFAttempt(operation)
    attempt.context = context.text
    let good = attempt
    spoiling.spoil(&attempt)
    let answer = try await attempt.send(to: server, key)
    #expect(try answer.integer("statusCode") == spoiling.status, "\(spoiling.name), \(operation): \(answer)")
    #expect(answer["additionalTokens"] == nil, place)
    let stored = try await server.storage.uafCredentials(user: user)
    #expect(stored.map(\.signCounter) == (operation == .authentication ? [key.signCounter - 1] : []), place)
    // The rejection has locked nothing, and the unspoiled message is accepted.
    if stored.allSatisfy({ $0.state == .active }) {
      let unspoiled = try await good.send(to: server, key)
      #expect(try unspoiled.integer("statusCode") == 1200, "\(spoiling.name), \(operation): \(unspoiled)")
    }
  }

  // MARK: The message

  private static let messages: [UAFSpoiling] = [
    .init("an object, no list", 1400) { $0.text = { String($0.dropFirst().dropLast()) } },
    .init("no JSON", 1400) { $0.text = { String($0.dropLast()) } },
    .init("an empty list", 1400) { $0.text = { _ in "[]" } },
    .init("a number in the list", 1400) { $0.text = { _ in "[1]" } },
    .init("a message beside a number", 1400) { $0.text = { $0.dropLast() + ",1]" } },
    .init("the message twice", 1400) { attempt in
      attempt.text = { text in "[" + text.dropFirst().dropLast() + "," + text.dropFirst() }
    },
    .init("no header", 1400) { $0.message = { $0["header"] = nil } },
    .init("a header that is a text", 1400) { $0.message = { $0["header"] = "x" } },
    .init("null for a header", 1400) { $0.message = { $0["header"] = .null } },
    .init("no upv", 1400) { $0.header = { $0["upv"] = nil } },
    .init("upv as a text", 1400) { $0.header = { $0["upv"] = "1.1" } },
    .init("upv 1.0", 1400) { $0.header = { $0["upv"] = ["major": 1, "minor": 0] } },
    .init("upv 1.7", 1400) { $0.header = { $0["upv"] = ["major": 1, "minor": 7] } },
    .init("upv without minor", 1400) { $0.header = { $0["upv"] = ["major": 1] } },
    .init("upv beyond its range", 1400) { $0.header = { $0["upv"] = ["major": 65_537, "minor": 1] } },
    .init("no op", 1400) { $0.header = { $0["op"] = nil } },
    .init("op as a number", 1400) { $0.header = { $0["op"] = 1 } },
    .init("an unknown op", 1400) { $0.header = { $0["op"] = "Register" } },
    .init("the op of deregistrations", 1400) { $0.header = { $0["op"] = "Dereg" } },
    .init("the op of the other response", 1400) { attempt in
      let other = attempt.operation == .registration ? "Auth" : "Reg"
      attempt.header = { $0["op"] = .string(other) }
    },
    .init("no serverData", 1491) { $0.header = { $0["serverData"] = nil } },
    .init("empty serverData", 1400) { $0.header = { $0["serverData"] = "" } },
    .init("serverData of nobody", 1491) { $0.header = { $0["serverData"] = "x.y" } },
    .init("serverData with another code", 1491) { attempt in
      attempt.header = { header in
        guard case .string(let text)? = header["serverData"] else { return }
        header["serverData"] = .string(text.dropLast() + (text.hasSuffix("A") ? "Q" : "A"))
      }
    },
    .init("serverData that is too long", 1400) { attempt in
      attempt.header = { $0["serverData"] = .string(String(repeating: "x", count: 1537)) }
    },
    .init("no appID", 1498) { $0.header = { $0["appID"] = nil } },
    .init("an empty appID", 1498) { $0.header = { $0["appID"] = "" } },
    .init("another appID", 1498) { $0.header = { $0["appID"] = "https://evil.example/facets" } },
    .init("an appID of 513 characters", 1400) { attempt in
      attempt.header = { $0["appID"] = .string("https://" + String(repeating: "a", count: 505)) }
    },
    .init("an unknown header extension that must be known", 1498) { attempt in
      attempt.header = { $0["exts"] = [["id": "new", "data": "", "fail_if_unknown": true]] }
    },
    .init("a header extension without data", 1400) { attempt in
      attempt.header = { $0["exts"] = [["id": "new", "fail_if_unknown": false]] }
    },
    .init("no assertions", 1400) { $0.message = { $0["assertions"] = nil } },
    .init("an empty list of assertions", 1400) { $0.message = { $0["assertions"] = [] } },
    .init("assertions as an object", 1400) { $0.message = { $0["assertions"] = [:] } },
    .init("an assertion as a text", 1400) { $0.message = { $0["assertions"] = ["x"] } },
    .init("no assertionScheme", 1400) { $0.item = { $0["assertionScheme"] = nil } },
    .init("an unknown assertionScheme", 1498) { $0.item = { $0["assertionScheme"] = "UAFV2TLV" } },
    .init("no assertion", 1400) { $0.item = { $0["assertion"] = nil } },
    .init("an empty assertion", 1400) { $0.item = { $0["assertion"] = "" } },
    .init("an assertion that is no base64url", 1400) { attempt in
      attempt.item = { item in
        guard case .string(let text)? = item["assertion"] else { return }
        item["assertion"] = .string("!" + text.dropFirst())
      }
    },
    .init("an assertion of 4097 bytes", 1400) { attempt in
      attempt.assertion = { $0 += [UInt8](repeating: 0, count: 4097 - $0.count) }
    },
    .init("an extension of the assertion that must be known", 1498) { attempt in
      attempt.item = { $0["exts"] = [["id": "new", "data": "", "fail_if_unknown": true]] }
    },
  ]

  @Test("messages (1 to 5, 11 and 25 of the list)", arguments: operations)
  func refusesMessages(_ operation: UAFOperation) async throws {
    try await refuse(Self.messages, operation)
  }

  // MARK: The final challenge

  private static let wrongValues: [(String, JSONValue?)] = [
    ("missing", nil), ("null", .null), ("empty", ""), ("a number", 1), ("a list", []),
  ]

  private static let challenges: [UAFSpoiling] =
    [
      .init("no fcParams", 1400) { $0.message = { $0["fcParams"] = nil } },
      .init("fcParams as an object", 1400) { $0.message = { $0["fcParams"] = [:] } },
      .init("empty fcParams", 1400) { $0.challengeText = "" },
      .init("fcParams that are no base64url", 1400) { $0.challengeText = "{}" },
      .init("fcParams that are no JSON", 1400) { $0.challengeText = Base64URL.encode(Array("x".utf8)) },
      .init("fcParams that are a list", 1400) { $0.challengeText = Base64URL.encode(Array("[]".utf8)) },
      .init("another appID in fcParams", 1498) {
        $0.params = { $0["appID"] = "https://evil.example/facets" }
      },
      .init("a facet that is not trusted", 1498) { attempt in
        attempt.params = { $0["facetID"] = "ios:bundle-id:org.example.evil" }
      },
      .init("another challenge", 1491) { attempt in
        attempt.params = { $0["challenge"] = .string(Base64URL.encode([UInt8](repeating: 7, count: 32))) }
      },
      .init("a challenge of 7 bytes", 1400) { attempt in
        attempt.params = { $0["challenge"] = .string(Base64URL.encode([UInt8](repeating: 7, count: 7))) }
      },
      .init("a channel binding with a number", 1400) { attempt in
        attempt.params = { $0["channelBinding"] = ["tlsUnique": 1] }
      },
      .init("other fcParams than the signed ones", 1498) { attempt in
        attempt.message = { message in
          guard case .string(let text)? = message["fcParams"], let bytes = Base64URL.decodePadded(text)
          else { return }
          // A space before it, which keeps the meaning.
          message["fcParams"] = .string(Base64URL.encode([0x20] + bytes))
        }
      },
    ]
    + ["appID", "challenge", "facetID"].flatMap { member in
      wrongValues.map { name, value in
        UAFSpoiling("\(member) in fcParams: \(name)", 1400) { $0.params = { $0[member] = value } }
      }
    }
    + wrongValues.map { name, value in
      UAFSpoiling("channelBinding: \(name)", 1400) { $0.params = { $0["channelBinding"] = value } }
    }

  @Test("the final challenge (6, 7, 9, 10 and 18)", arguments: operations)
  func refusesChallenges(_ operation: UAFOperation) async throws {
    try await refuse(Self.challenges, operation)
  }

  @Test("foreign and expired challenges (4 and 8)", arguments: operations)
  func refusesOtherChallenges(_ operation: UAFOperation) async throws {
    var key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.register(key)
    key.signCounter = 2
    let path = operation == .registration ? "registration" : "authentication"
    func request(_ user: String, _ operation: UAFOperation = operation) async throws -> JSONObject {
      let path = operation == .registration ? "registration" : "authentication"
      let asked = try await server.uaf(
        "/uaf/1.1/request/\(path)",
        ["op": .string(operation.rawValue), "context": .string(#"{"username":"\#(user)"}"#)], isOrdered: true)
      return try UAFAttempt.first(of: asked.string("uafRequest"))
    }
    func send(_ text: String) async throws -> Int64 {
      try await server.uaf("/uaf/1.1/\(path)", ["uafResponse": .string(text)]).integer("statusCode")
    }
    try await server.users.add(UserID("bob"), by: .local)
    let answering = operation == .registration ? UAFTestKey() : key
    let (first, second) = (try await request("alice"), try await request("alice"))
    // The challenge of one session with the server data of another.
    var mixed = first
    mixed["challenge"] = second["challenge"]
    #expect(try await send(UAFAttempt(operation).answer(mixed, answering)) == 1491)
    // This has used up the first session; the second is accepted once.
    #expect(try await send(UAFAttempt(operation).answer(first, answering)) == 1491)
    #expect(try await send(UAFAttempt(operation).answer(second, answering)) == 1200)
    #expect(try await send(UAFAttempt(operation).answer(second, answering)) == 1491)
    // After its expiry.
    let late = try await request("alice")
    server.clock.advance(by: 120)
    #expect(try await send(UAFAttempt(operation).answer(late, UAFTestKey())) == 1491)
    // The response to the other operation.
    let other = try await request("alice", operation == .registration ? .authentication : .registration)
    var header = try other.object("header")
    header["op"] = .string(operation.rawValue)
    var turned = other
    turned["header"] = .object(header)
    #expect(try await send(UAFAttempt(operation).answer(turned, UAFTestKey())) == 1491)
  }

  // MARK: The assertion

  private static func elements(
    _ name: String, _ status: Int64 = 1498, _ change: @escaping @Sendable (inout [UAFTestKey.Element]) -> Void
  ) -> UAFSpoiling {
    UAFSpoiling(name, status) { $0.elements = change }
  }

  private static func parts(
    _ name: String, _ status: Int64 = 1498, _ change: @escaping @Sendable (inout [UAFTestKey.Element]) -> Void
  ) -> UAFSpoiling {
    UAFSpoiling(name, status) { $0.parts = change }
  }

  private static func bytes(
    _ name: String, _ change: @escaping @Sendable (inout [UInt8]) -> Void
  ) -> UAFSpoiling {
    UAFSpoiling(name, 1498) { $0.assertion = change }
  }

  /// For each mandatory element: missing, empty, one byte too short and too long, and twice.
  private static func forms(_ tags: [TLVTag], fixed: Set<TLVTag>) -> [UAFSpoiling] {
    tags.flatMap { tag in
      var list = [
        elements("\(tag) missing") { $0.remove(tag) },
        elements("\(tag) empty") { $0.change(tag) { $0 = [] } },
        elements("\(tag) twice") { $0.double(tag) },
      ]
      if fixed.contains(tag) {
        list += [
          elements("\(tag) a byte short") { $0.change(tag) { $0.removeLast() } },
          elements("\(tag) a byte long") { $0.change(tag) { $0.append(0) } },
        ]
      }
      return list
    }
  }

  /// Errors in both kinds of assertion.
  private static let assertions: [UAFSpoiling] =
    [
      bytes("another top tag") { $0[0] ^= 0x10 },
      bytes("a byte behind") { $0.append(0) },
      bytes("a byte cut off") { $0.removeLast() },
      bytes("half of it") { $0.removeLast($0.count / 2) },
      bytes("a length beyond the end") { $0[2] &+= 1 },
      bytes("a length before the end") { $0[2] &-= 1 },
      bytes("three bytes alone") { $0.removeLast($0.count - 3) },
      elements("a final challenge hash with a flipped bit") { $0.change(.finalChallengeHash) { $0[0] ^= 1 } },
      elements("an AAID that is none") { $0.change(.aaid) { $0[4] = 0x2D } },
      elements("an unknown AAID", 1480) { $0.change(.aaid) { $0[8] ^= 1 } },
      elements("a key id of 31 bytes") { $0.change(.keyID) { $0.removeLast() } },
      elements("an unknown critical element") { $0.append(.init(TLVTag(rawValue: 0x2E77), [1])) },
      elements("an extension that must be known") { elements in
        let content =
          UAFTestKey.encode(.init(.extensionID, Array("new".utf8)))
          + UAFTestKey.encode(.init(.extensionData, [1]))
        elements.append(.init(.criticalExtension, content))
      },
      elements("mode 0") { $0.change(.assertionInfo) { $0[2] = 0 } },
      elements("mode 2 without a transaction") { $0.change(.assertionInfo) { $0[2] = 2 } },
      elements("mode 3") { $0.change(.assertionInfo) { $0[2] = 3 } },
      elements("another signature algorithm", 1495) { $0.change(.assertionInfo) { $0[3] = 2 } },
      elements("a signature algorithm of nobody", 1495) { $0.change(.assertionInfo) { $0[3] = 0x77 } },
      parts("nothing that is signed") { $0.removeFirst() },
      parts("what is signed twice") { $0.append($0[0]) },
    ]

  @Test("assertions (12, 13, 15 to 19 and 25)", arguments: operations)
  func refusesAssertions(_ operation: UAFOperation) async throws {
    try await refuse(Self.assertions, operation)
  }

  private static let registrations: [UAFSpoiling] =
    forms(
      [.aaid, .assertionInfo, .finalChallengeHash, .keyID, .counters, .publicKey],
      fixed: [.aaid, .assertionInfo, .counters])
    + [
      elements("another key format", 1494) { $0.change(.assertionInfo) { $0[5] = 1 } },
      elements("a key that is not on the curve", 1494) { $0.change(.publicKey) { $0[40] ^= 1 } },
      elements("a key of zeros", 1494) {
        $0.change(.publicKey) { $0 = [UInt8](repeating: 0, count: $0.count) }
      },
      elements("the key of another", 1496) { elements in
        elements.change(.publicKey) { $0 = P256.Signing.PrivateKey().publicKey.x963Representation }
      },
      parts("no attestation") { $0.removeLast() },
      parts("two attestations") { $0.append($0[1]) },
      parts("surrogate and full attestation") { $0.append(.init(.attestationBasicFull, $0[1].content)) },
      parts("full attestation of a model without roots", 1496) { parts in
        let certificate = UAFTestKey.encode(.init(.attestationCertificate, [0x30, 0]))
        parts[1] = .init(.attestationBasicFull, parts[1].content + certificate)
      },
      parts("full attestation without a certificate") { $0[1].tag = .attestationBasicFull },
      parts("ECDAA", 1496) { $0[1].tag = .attestationECDAA },
      parts("a signature with a flipped bit", 1496) { parts in
        parts[1].content[parts[1].content.count - 1] ^= 1
      },
      parts("an empty signature") { $0[1].content = UAFTestKey.encode(.init(.signature, [])) },
      parts("no signature") { $0[1].content = [] },
      parts("a signature of zeros", 1496) { parts in
        parts[1].content = UAFTestKey.encode(.init(.signature, [UInt8](repeating: 0, count: 64)))
      },
    ]

  @Test("registrations (13, 14, 16, 17 and 20 to 23)")
  func refusesRegistrations() async throws {
    try await refuse(Self.registrations, .registration)
  }

  private static let authentications: [UAFSpoiling] =
    forms(
      [.aaid, .assertionInfo, .authenticatorNonce, .finalChallengeHash, .keyID, .counters],
      fixed: [.aaid, .assertionInfo, .counters])
    + [
      elements("a nonce of 7 bytes") { $0.change(.authenticatorNonce) { $0.removeLast() } },
      elements("no transaction hash element") { $0.remove(.transactionContentHash) },
      elements("a transaction hash in mode 1") { elements in
        elements.change(.transactionContentHash) { $0 = [UInt8](repeating: 1, count: 32) }
      },
      elements("a transaction hash in mode 2 where nothing was asked") { elements in
        elements.change(.assertionInfo) { $0[2] = 2 }
        elements.change(.transactionContentHash) { $0 = [UInt8](repeating: 1, count: 32) }
      },
      elements("a key id that is not registered", 1481) { $0.change(.keyID) { $0[0] ^= 1 } },
      parts("no signature") { $0.removeLast() },
      parts("two signatures") { $0.append($0[1]) },
      parts("an empty signature") { $0[1].content = [] },
      parts("a signature with a flipped bit") { $0[1].content[63] ^= 1 },
      parts("a signature that is cut") { $0[1].content.removeLast() },
    ]

  @Test("authentications (13, 14, 16, 22 and 24)")
  func refusesAuthentications() async throws {
    try await refuse(Self.authentications, .authentication)
  }

  private static let confirmations: [UAFSpoiling] = [
    elements("mode 1 where something is to be confirmed") { elements in
      elements.change(.assertionInfo) { $0[2] = 1 }
      elements.change(.transactionContentHash) { $0 = [] }
    },
    elements("no hash in mode 2") { $0.change(.transactionContentHash) { $0 = [] } },
    elements("the hash of another text") { $0.change(.transactionContentHash) { $0[0] ^= 1 } },
    elements("a hash that is cut") { $0.change(.transactionContentHash) { $0.removeLast() } },
  ]

  @Test("confirmations (24)")
  func refusesConfirmations() async throws {
    try await refuse(Self.confirmations, .authentication, transaction: "Pay 10 to Bob")
  }

  // MARK: Keys

  @Test("a key is registered once, for any user (19)") func refusesRegisteredKeys() async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    try await server.users.add(UserID("bob"), by: .local)
    try await server.register(key)
    var attempt = UAFAttempt(.registration)
    // The request's own policy disallows the key.
    #expect(try await attempt.send(to: server, key).integer("statusCode") == 1492)
    attempt.context = #"{"username":"bob"}"#
    #expect(try await attempt.send(to: server, key).integer("statusCode") == 1498)
    #expect(try await server.storage.uafCredentials(user: "bob").isEmpty)
  }

  @Test("a key of another user is unknown (24)") func refusesKeysOfOthers() async throws {
    var (key, other) = (UAFTestKey(), UAFTestKey())
    let server = try await UAFServer(key)
    try await server.users.add(UserID("bob"), by: .local)
    try await server.register(key)
    var attempt = UAFAttempt(.registration)
    attempt.context = #"{"username":"bob"}"#
    #expect(try await attempt.send(to: server, other).integer("statusCode") == 1200)
    (key.signCounter, other.signCounter) = (2, 2)
    #expect(try await UAFAttempt(.authentication).send(to: server, other).integer("statusCode") == 1481)
    // The same key ID under another known AAID.
    #expect(try await UAFAttempt(.authentication).send(to: server, key).integer("statusCode") == 1200)
  }

  @Test("a model that the policy does not accept (15)", arguments: operations)
  func refusesOtherModels(_ operation: UAFOperation) async throws {
    var key = UAFTestKey()
    let other = UAFTestKey(aaid: AAID(vendor: 0x7357, model: 2))
    let server = try await UAFServer([key, other]) { settings in
      settings.policies["narrow"] = Policy(accepted: [[MatchCriteria(aaids: [other.aaid])]])
    }
    try await server.register(key)
    let registered = try await UAFAttempt(.registration).send(to: server, other)
    #expect(try registered.integer("statusCode") == 1200)
    key.signCounter = 2
    var attempt = UAFAttempt(operation)
    attempt.context = #"{"username":"alice","policy":"narrow"}"#
    let answering = operation == .registration ? UAFTestKey() : key
    #expect(try await attempt.send(to: server, answering).integer("statusCode") == 1492)
  }

  @Test(
    "certificates of attestation (20 and 21)",
    arguments: ["good", "cut", "expired", "stranger", "none", "surrogate"])
  func checksCertificates(_ kind: String) async throws {
    var key = UAFTestKey()
    let clock = VirtualClock()
    let now = clock.now
    let (authority, stranger) = (try UAFTestAuthority(at: now), try UAFTestAuthority(at: now))
    let server = try await UAFServer([key], roots: [try authority.root], clock: clock)
    key.attester =
      switch kind {
      case "expired": try authority.attester(validDays: 1, at: now - 3 * 86_400)
      case "stranger": try stranger.attester(at: now)
      case "surrogate": .itself
      default: try authority.attester(at: now)
      }
    if case .certified(let signer, let chain) = key.attester {
      if kind == "cut" { key.attester = .certified(signer, [Array(chain[0].dropLast())]) }
      if kind == "none" { key.attester = .certified(signer, [[]]) }
    }
    let status = try await UAFAttempt(.registration).send(to: server, key).integer("statusCode")
    switch kind {
    case "good": #expect(status == 1200)
    case "none": #expect(status == 1498)
    default: #expect(status == 1496)
    }
  }

  @Test(
    "signatures of every algorithm on P-256 with a flipped bit (22)", arguments: [false, true], operations)
  func refusesFlippedSignatures(_ isDER: Bool, _ operation: UAFOperation) async throws {
    let spoiling = UAFSpoiling("a flipped bit", operation == .registration ? 1496 : 1498) { attempt in
      attempt.parts = { $0[1].content[$0[1].content.count - 1] ^= 1 }
    }
    try await refuse([spoiling], operation, isDER: isDER)
  }

  @Test("counters that do not grow (24)", arguments: [(5, 5), (5, 4), (5, 0)] as [(UInt32, UInt32)])
  func refusesOldCounters(_ stored: UInt32, _ sent: UInt32) async throws {
    var key = UAFTestKey()
    key.signCounter = stored
    let server = try await UAFServer(key)
    try await server.register(key)
    key.signCounter = sent
    #expect(try await UAFAttempt(.authentication).send(to: server, key).integer("statusCode") == 1498)
    #expect(try await server.storage.uafCredentials(user: "alice").map(\.state) == [.quarantined])
  }

  @Test("a counter that stays 0 is accepted as unsupported")
  func takesKeysThatDoNotCount() async throws {
    var key = UAFTestKey()
    (key.signCounter, key.registrationCounter) = (0, 0)
    let server = try await UAFServer(key)
    try await server.register(key)
    for _ in 1...2 {
      #expect(try await UAFAttempt(.authentication).send(to: server, key).integer("statusCode") == 1200)
    }
  }
}
