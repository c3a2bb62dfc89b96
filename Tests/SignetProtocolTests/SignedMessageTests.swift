import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetProtocol
import Testing

/// Messages signed with signing keys and session keys, and messages that the server encrypts.
@Suite struct SignedMessageTests {
  private struct Bytes: RandomSource {
    func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 5, count: count) }
  }

  private static func proof(at time: Int64) -> RequestProof {
    RequestProof(method: "POST", path: "/main/v1/x", body: [1, 2], time: time, random: Bytes())
  }

  @Test(arguments: [0, 1_795_230_901, Int64.max, .min, .max - 120, .min + 120])
  func coversItsRequestWithinTheLeeway(_ now: Int64) {
    let leeway = RequestProof.leeway
    for (offset, isCovered) in [
      (-leeway - 1, false), (-leeway, true), (0, true), (leeway, true), (leeway + 1, false),
    ] {
      let (time, overflow) = now.addingReportingOverflow(offset)
      guard !overflow else { continue }
      let proof = Self.proof(at: time)
      #expect(proof.covers(method: "POST", path: "/main/v1/x", body: [1, 2], now: now) == isCovered)
    }
  }

  @Test func survivesTimesThatCannotBe() {
    for (time, now) in [(Int64.min, Int64.max), (.max, .min), (.min, 0), (.max, 0), (.min, -1), (.max, -1)] {
      let proof = Self.proof(at: time)
      #expect(!proof.covers(method: "POST", path: "/main/v1/x", body: [1, 2], now: now))
    }
  }

  @Test func coversNoOtherRequest() {
    let proof = Self.proof(at: 1000)
    #expect(!proof.covers(method: "GET", path: "/main/v1/x", body: [1, 2], now: 1000))
    #expect(!proof.covers(method: "post", path: "/main/v1/x", body: [1, 2], now: 1000))
    #expect(!proof.covers(method: "POST", path: "/main/v1/x/", body: [1, 2], now: 1000))
    #expect(!proof.covers(method: "POST", path: "/other/v1/x", body: [1, 2], now: 1000))
    #expect(!proof.covers(method: "POST", path: "/main/v1/x", body: [1], now: 1000))
    #expect(!proof.covers(method: "POST", path: "/main/v1/x", body: [], now: 1000))
  }

  @Test("with repeated random numbers, different requests still have different ids")
  func idsOfARepeatingGenerator() {
    let requests: [(method: String, path: String, body: [UInt8], time: Int64)] = [
      ("POST", "/main/v1/x", [1, 2], 1000), ("GET", "/main/v1/x", [1, 2], 1000),
      ("POST", "/main/v1/y", [1, 2], 1000), ("POST", "/main/v1/x", [1], 1000),
      ("POST", "/main/v1/x", [1, 2], 1001),
    ]
    let ids = requests.map {
      RequestProof(method: $0.method, path: $0.path, body: $0.body, time: $0.time, random: Bytes()).id
    }
    #expect(Set(ids).count == requests.count && ids.allSatisfy { $0.count == 16 }, "\(ids)")
  }

  @Test func refusesOtherAuthorizations() async throws {
    let key = P256.Signing.PrivateKey()
    let container = try ContainerID("c1")
    let header = try await Self.proof(at: 1000).authorization(container: container, by: key.signature(for:))
    let signed = try #require(SignedRequest(authorization: header))
    #expect(signed.container == container)
    #expect(signed.proof(verifiedWith: key.publicKey) == Self.proof(at: 1000))
    #expect(signed.proof(verifiedWith: P256.Signing.PrivateKey().publicKey) == nil)
    let jws = String(header.dropFirst("Signet ".count))
    for bad in [
      jws, "Bearer " + jws, "signet " + jws, "Signet", "Signet ", "Signet  " + jws, "Signet " + jws + ".",
      "Signet " + jws + String(repeating: "A", count: 4096), "", "Signet a.b.c",
    ] {
      #expect(SignedRequest(authorization: bad) == nil, "\(bad.prefix(40))")
    }
    // A JWS of another type, without a key ID, or under a MAC with a public key.
    let bytes = Self.proof(at: 1000).bytes
    let signing = SigningKey(key, keyID: "c1")
    let publicKey = SecretBytes(copying: key.publicKey.x963Representation)
    let decision = try JWS.sign(bytes, with: signing, type: Decision.type)
    let anonymous = try JWS.sign(bytes, with: SigningKey(key), type: RequestProof.type)
    let mac = try JWS.sign(bytes, with: SigningKey(hmac: publicKey, keyID: "c1"), type: RequestProof.type)
    #expect(SignedRequest(authorization: "Signet " + decision) == nil)
    #expect(SignedRequest(authorization: "Signet " + anonymous) == nil)
    #expect(SignedRequest(authorization: "Signet " + mac)?.proof(verifiedWith: key.publicKey) == nil)
  }

  @Test("a decision with any changed member fails verification")
  func bindsEveryMemberOfADecision() throws {
    let vector = try ProtocolVector.load()[0]
    let key = try vector.signingKey("signingPrivateKey")
    let jws = try vector.text("decision")
    let decision = try #require(Decision(verifying: jws, signedBy: key.publicKey))
    let sample = MessageSample(name: "decision", bytes: decision.bytes) { try Decision(parsing: $0).bytes }
    let parts = jws.split(separator: ".").map(String.init)
    for (name, value) in try JSONObject(parsing: decision.bytes).members {
      let other: JSONValue =
        switch (name, value) {
        case ("status", _): "denied"
        case ("server", _): "https://evil.example.com/main"
        case ("device", _): .string(Base64URL.encode([UInt8](repeating: 0, count: 16)))
        case (_, .integer(let number)): .integer(number + 1)
        case (_, .string(let text)): .string(text + "1")
        default: .null
        }
      let changed = try sample.setting(name, to: other)
      let forged = [parts[0], Base64URL.encode(changed), parts[2]].joined(separator: ".")
      #expect(Decision(verifying: forged, signedBy: key.publicKey) == nil, "\(name)")
      guard name != "version" else { continue }
      #expect(try Decision(parsing: changed) != decision, "\(name)")
    }
  }

  @Test("a signed decision with any changed character fails verification", arguments: [0, 1])
  func bindsEveryCharacterOfADecision(_ index: Int) throws {
    let vector = try ProtocolVector.load()[index]
    let key = try vector.signingKey("signingPrivateKey").publicKey
    let jws = Array(try vector.text("decision").utf8)
    for position in jws.indices {
      for mask in [UInt8(1), 2, 0x20] {
        var changed = jws
        changed[position] ^= mask
        let text = String(decoding: changed, as: UTF8.self)
        #expect(Decision(verifying: text, signedBy: key) == nil, "character \(position)")
      }
    }
  }

  @Test func refusesDecisionsUnderOtherHeaders() throws {
    let vector = try ProtocolVector.load()[0]
    let key = try vector.signingKey("signingPrivateKey")
    let payload = try vector.utf8("decisionPayload")
    let thumbprint = key.publicKey.thumbprint
    func isAccepted(_ signing: SigningKey, _ type: String?) throws -> Bool {
      Decision(verifying: try JWS.sign(payload, with: signing, type: type), signedBy: key.publicKey) != nil
    }
    #expect(try isAccepted(SigningKey(key, keyID: thumbprint), Decision.type))
    #expect(try !isAccepted(SigningKey(key, keyID: thumbprint), RequestProof.type))
    #expect(try !isAccepted(SigningKey(key, keyID: thumbprint), nil))
    #expect(try !isAccepted(SigningKey(key, keyID: "other"), Decision.type))
    #expect(try !isAccepted(SigningKey(key), Decision.type))
  }

  private static func address(_ request: UInt8 = 7) throws -> ListAddress {
    ListAddress(
      server: try ServerURL("signet.example.com/main"), container: try ContainerID("c1"),
      request: [UInt8](repeating: request, count: 16))
  }

  @Test("a list decrypts for one device and one request, and only if signed by the server")
  func sealsTransactionsForOneDevice() throws {
    let (key, server) = (P256.KeyAgreement.PrivateKey(), P256.Signing.PrivateKey())
    let list = TransactionList([
      TransactionRequest(
        id: try TransactionID("t1"),
        content: try TransactionContent(.text("Pay\n1 €"), from: .relyingParty("Example Bank")), created: 1,
        expires: 2)
    ])
    let address = try Self.address()
    let jwe = try list.sealed(for: address, by: server, to: key.publicKey)
    let sealed = try SealedTransactionList(decrypting: jwe, with: key)
    #expect(sealed.signer == server.publicKey.thumbprint)
    #expect(try sealed.list(signedBy: server.publicKey, for: address) == list)
    #expect(try list.sealed(for: address, by: server, to: key.publicKey) != jwe)
    #expect(throws: WireFailure.notAuthentic) {
      try SealedTransactionList(decrypting: jwe, with: P256.KeyAgreement.PrivateKey())
    }
    // Anyone with the device's public key can encrypt, but only the server signs.
    let forged = try SealedTransactionList(
      decrypting: list.sealed(for: address, by: P256.Signing.PrivateKey(), to: key.publicKey), with: key)
    #expect(throws: WireFailure.notAuthentic) { try forged.list(signedBy: server.publicKey, for: address) }
    for other in [
      try Self.address(8),
      ListAddress(
        server: try ServerURL("signet.example.com/x"), container: address.container, request: address.request),
      ListAddress(server: address.server, container: try ContainerID("c2"), request: address.request),
    ] {
      #expect(throws: WireFailure.notAuthentic) { try sealed.list(signedBy: server.publicKey, for: other) }
    }
    let parts = jwe.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    for index in [0, 2, 3, 4] {
      var changed = parts
      let replacement: Character = changed[index].first == "A" ? "B" : "A"
      changed[index] = String(replacement) + changed[index].dropFirst()
      #expect(throws: WireFailure.notAuthentic, "part \(index)") {
        try SealedTransactionList(decrypting: changed.joined(separator: "."), with: key)
      }
    }
    // Encrypted for the device with the protocol's algorithms, but not a list.
    let bare = try JWE.encrypt(list.bytes, for: EncryptionKey(key.publicKey), .ecdhES, .a256GCM)
    #expect(throws: WireFailure.notAuthentic) { try SealedTransactionList(decrypting: bare, with: key) }
    let signed = SigningKey(server, keyID: server.publicKey.thumbprint)
    let other = try JWS.sign(list.bytes, with: signed, type: Decision.type)
    let decision = try JWE.encrypt(Array(other.utf8), for: EncryptionKey(key.publicKey), .ecdhES, .a256GCM)
    #expect(throws: WireFailure.notAuthentic) { try SealedTransactionList(decrypting: decision, with: key) }
    let typed = try JWS.sign(list.bytes, with: signed, type: "signet-transactions")
    let weaker = try JWE.encrypt(
      Array(typed.utf8), for: EncryptionKey(key.publicKey), .ecdhES, .a128CBCHS256)
    #expect(throws: WireFailure.notAuthentic) { try SealedTransactionList(decrypting: weaker, with: key) }
  }

  @Test("a key's signed succession leads to the next key only")
  func followsKeys() throws {
    let server = try ServerURL("signet.example.com/main")
    let keys = (0..<4).map { _ in P256.Signing.PrivateKey() }
    var words = try (0..<3).map {
      try KeySuccession(server: server, next: keys[$0 + 1].publicKey, time: 1).signed(by: keys[$0])
    }
    var set = try ServerKeySet(
      parsing: JSONValue.object(ServerKeySet(keys: keys.map(\.publicKey), successions: words).json).bytes)
    let last = keys[3].publicKey
    for known in 0..<3 {
      #expect(set.successor(of: keys[known].publicKey, called: last.thumbprint, at: server) == last)
    }
    #expect(set.successor(of: last, called: keys[0].publicKey.thumbprint, at: server) == nil)
    #expect(set.successor(of: keys[0].publicKey, called: "other", at: server) == nil)
    let stranger = P256.Signing.PrivateKey()
    #expect(set.successor(of: stranger.publicKey, called: last.thumbprint, at: server) == nil)
    #expect(
      set.successor(
        of: keys[0].publicKey, called: last.thumbprint, at: try ServerURL("evil.example.com/main")) == nil)
    // A published key without its predecessor's signature is not trusted.
    words[1] = try KeySuccession(server: server, next: keys[2].publicKey, time: 1).signed(by: stranger)
    set = ServerKeySet(keys: keys.map(\.publicKey), successions: words)
    #expect(set.successor(of: keys[0].publicKey, called: last.thumbprint, at: server) == nil)
    #expect(set.successor(of: keys[0].publicKey, called: keys[1].publicKey.thumbprint, at: server) != nil)
  }

  @Test func refusesTextsThatDoNotShowWhatTheySay() throws {
    let sample = try MessageSample.named("transactions")
    let transaction = try #require(try JSONObject(parsing: sample.bytes).array("transactions").first)
    guard case .object(var object) = transaction else { return }
    let bank = TransactionContent.Origin.relyingParty("Example Bank")
    let frame = try TransactionContent(.text("x"), from: bank).json.utf8.count - 1
    let longest = String(repeating: "x", count: TransactionContent.maximumByteCount - frame)
    for bad in [
      "", "a\u{0}", "a\u{1B}[31m", "a\r", "a\u{9B}", "a\u{202E}b", "a\u{2066}b", "a\u{200E}", "a\u{200B}",
      "a\u{AD}b",
      "a\u{2028}b", "a\u{E0041}", "a\u{3164}", String(repeating: "x", count: 4097), longest + "x",
    ] {
      let content: JSONObject = ["from": "Example Bank", "text": .string(bad)]
      object["content"] = .string(JSONValue.object(content).text(.sorted))
      let list = try sample.setting("transactions", to: [.object(object)])
      #expect(throws: WireFailure.self) { try TransactionList(parsing: list) }
      #expect(throws: WireFailure.self) { try TransactionContent(.text(bad), from: bank) }
    }
    #expect(throws: Never.self) { try TransactionContent(.text(longest), from: bank) }
    // A status of a later version cannot be chosen, and is ignored.
    object["content"] = .string(try TransactionContent(.text("Pay"), from: bank).json)
    object["statuses"] = ["accepted", "later"]
    let list = try TransactionList(parsing: sample.setting("transactions", to: [.object(object)]))
    #expect(list.transactions.map(\.statuses) == [[.accepted]])
    #expect(throws: WireFailure.self) {
      try TransactionList(parsing: sample.setting("transactions", to: ["x"]))
    }
  }

  @Test func problemsHaveOneStatusEach() throws {
    for code in Problem.Code.allCases {
      let problem = Problem(code, "Do this.")
      let object = try JSONObject(parsing: problem.bytes)
      #expect(Problem(parsing: problem.bytes) == problem)
      #expect(try object.string("type") == "urn:signet:problem:\(code.rawValue)")
      #expect(try object.integer("status") == Int64(code.status))
      #expect((400...599).contains(code.status) && !code.title.isEmpty)
    }
    #expect(Problem(parsing: Array(#"{"type":"urn:signet:problem:later.code"}"#.utf8)) == nil)
    #expect(Problem(parsing: Array(#"{"type":"about:blank"}"#.utf8)) == nil)
    #expect(Problem(parsing: Array("<html>".utf8)) == nil)
  }
}
