import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Testing

/// The verification of a decision by a relying party (`docs/protocol.md` section 7).
@Suite(.timeLimit(.minutes(10))) struct DecisionCheckTests {
  private func decided() async throws -> (jws: String, answer: JSONObject, key: P256.Signing.PublicKey) {
    let server = try ServerFixture()
    let device = try await server.activate()
    let made = try await server.transactions.create(
      "Pay 1 €", user: UserID("alice"), lifetime: nil, by: .local)
    let request = TransactionRequest(
      id: made.id, content: try TransactionContent(parsing: made.content),
      created: made.created, expires: made.expires)
    let body = try await device.decision(.accepted, request, at: server.clock.now)
    _ = try await server.transactions.decide(body, id: made.id, by: device.send(to: server))
    let (found, container) = try await server.transactions.find(made.id)
    let jws = try #require(found.decision?.jws)
    let key = device.signing.publicKey
    let decision: JSONObject = [
      "jws": .string(jws), "publicKey": .object(key.wireJWK), "publicKeyPEM": .string(key.pemRepresentation),
      "container": .string(try #require(container).id.text), "device": .string(Base64URL.encode(device.id)),
    ]
    return (
      jws,
      [
        "id": .string(made.id.text), "user": "alice", "content": .string(made.content), "status": "accepted",
        "expires": .integer(made.expires), "decision": .object(decision),
      ], key
    )
  }

  @Test("one changed character anywhere in the JWS makes the decision invalid")
  func bindsEveryCharacter() async throws {
    let (jws, answer, key) = try await decided()
    #expect(try DecisionCheck(jws, key: key).decision.status == .accepted)
    #expect(try DecisionCheck(answer.text, key: nil).content.json == answer.string("content"))
    let bytes = Array(jws.utf8)
    for index in bytes.indices {
      for mask in [UInt8(1), 0x20] {
        var changed = bytes
        changed[index] ^= mask
        let text = String(decoding: changed, as: UTF8.self)
        #expect(throws: DecisionCheck.Failure.self, "character \(index)") {
          try DecisionCheck(text, key: key)
        }
        var object = answer
        var details = try answer.object("decision")
        details["jws"] = .string(text)
        object["decision"] = .object(details)
        #expect(throws: DecisionCheck.Failure.self) { try DecisionCheck(object.text, key: nil) }
      }
    }
  }

  @Test("one changed character in the answer's description makes the decision invalid")
  func bindsTheAnswer() async throws {
    let (_, answer, key) = try await decided()
    for member in ["id", "user", "content", "status"] {
      let text = Array(try answer.string(member).utf8)
      for index in text.indices {
        var changed = text
        changed[index] ^= 1
        guard let other = String(validating: changed, as: UTF8.self) else { continue }
        var object = answer
        object[member] = .string(other)
        #expect(throws: DecisionCheck.Failure.differs(member: member)) {
          try DecisionCheck(object.text, key: key)
        }
      }
    }
    for member in ["container", "device"] {
      var object = answer
      var details = try answer.object("decision")
      details[member] = "AAAAAAAAAAAAAAAAAAAAAA"
      object["decision"] = .object(details)
      #expect(throws: DecisionCheck.Failure.differs(member: member)) {
        try DecisionCheck(object.text, key: nil)
      }
    }
  }

  @Test("a decision of an earlier format is recognised if its signature is valid")
  func namesBareText() async throws {
    let (_, answer, key) = try await decided()
    let own = P256.Signing.PrivateKey()
    func signed(_ payload: JSONObject) throws -> String {
      try JWS.sign(
        JSONValue.object(payload).bytes, with: SigningKey(own, keyID: own.publicKey.thumbprint),
        type: Decision.type)
    }
    let old: JSONObject = [
      "version": 1, "transaction": "AAAAAAAAAAAAAAAAAAAAAA", "text": "Pay 1 €", "status": "accepted",
      "time": 1000, "expires": 1300, "server": "https://id.example.org/main", "user": "alice",
      "container": "AAAAAAAAAAAAAAAAAAAAAA", "device": "AAAAAAAAAAAAAAAAAAAAAA",
    ]
    // A migrated server's answer: the text as a content that was never signed.
    var migrated = answer
    migrated["content"] = #"{"from":"Signet","text":"Pay 1 €"}"#
    var details = try answer.object("decision")
    details["jws"] = .string(try signed(old))
    details["publicKey"] = .object(own.publicKey.wireJWK)
    details["publicKeyPEM"] = .string(own.publicKey.pemRepresentation)
    migrated["decision"] = .object(details)
    #expect(throws: DecisionCheck.Failure.signedBareText) { try DecisionCheck(migrated.text, key: nil) }
    #expect(throws: DecisionCheck.Failure.signedBareText) {
      try DecisionCheck(signed(old), key: own.publicKey)
    }
    #expect(DecisionCheck.Failure.signedBareText.description.contains("format 5"))
    #expect(throws: DecisionCheck.Failure.notSigned) { try DecisionCheck(signed(old), key: key) }
    // A payload with neither member, or of another version, is rejected.
    for (member, value) in [("text", nil), ("version", .integer(2))] as [(String, JSONValue?)] {
      var other = old
      other[member] = value
      #expect(throws: DecisionCheck.Failure.self) { try DecisionCheck(signed(other), key: own.publicKey) }
      do { _ = try DecisionCheck(signed(other), key: own.publicKey) } catch let failure
        as DecisionCheck.Failure
      {
        #expect(failure != .signedBareText)
      }
    }
  }

  @Test func namesWhyNot() async throws {
    let (jws, answer, key) = try await decided()
    let stranger = P256.Signing.PrivateKey().publicKey
    func failure(
      _ text: String, _ key: P256.Signing.PublicKey?, content: String? = nil
    ) -> DecisionCheck.Failure? {
      do throws(DecisionCheck.Failure) { _ = try DecisionCheck(text, key: key, content: content) } catch {
        return error
      }
      return nil
    }
    #expect(failure(jws, nil) == .keyMissing)
    #expect(failure(jws, stranger) == .notSigned)
    #expect(failure(answer.text, stranger) == .otherKey)
    #expect(failure(jws, key, content: "{}") == .differs(member: "content"))
    #expect(try failure(jws, key, content: answer.string("content")) == nil)
    for bad in ["", "{}", "a.b.c", "<html>"] {
      #expect(failure(bad, key) == .notADecision)
      #expect(failure(bad, nil) == .notADecision)
    }
    // Two keys in one answer must be equal, since a reader may use either.
    var details = try answer.object("decision")
    details["publicKey"] = .object(stranger.wireJWK)
    var object = answer
    object["decision"] = .object(details)
    #expect(failure(object.text, nil) == .notADecision)
  }

  @Test("a public key is read in PEM only")
  func readsPEM() throws {
    let key = P256.Signing.PrivateKey().publicKey
    #expect(try P256.Signing.PublicKey(pem: key.pemRepresentation) == key)
    #expect(try P256.Signing.PublicKey(pem: key.pemRepresentation.replacing("\n", with: "\r\n")) == key)
    for bad in [
      "", "-----BEGIN PUBLIC KEY-----", key.pemRepresentation.replacing("PUBLIC", with: "PRIVATE"),
      String(key.pemRepresentation.dropFirst()), "x\n" + key.pemRepresentation,
      key.pemRepresentation.replacing("MFk", with: "MFl"),
      "-----BEGIN PUBLIC KEY-----\n\n-----END PUBLIC KEY-----",
    ] {
      #expect(throws: CryptoFailure.self) { try P256.Signing.PublicKey(pem: bad) }
    }
  }
}
