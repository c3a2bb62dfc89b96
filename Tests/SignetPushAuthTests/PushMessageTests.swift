import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetPushAuth
import SignetTestKit
import Testing

@Suite("Push messages of authenticator apps")
struct PushMessageTests {
  /// Made with Python's hmac and base64, from the description of the format alone.
  static let published =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJjIjoiWkdWbVoyaHBhbXRzYlc1dmNIRnljM1IxZG5kNGVYcDdmSDErZjRDQmdvTT0iLCJsIjoiWVcxc1ltTnZiMnRwWlQwd01RPT0iLCJ0IjoiMTIwIiwidSI6IkEzRDhGMEMxLTAwMDAtNDAwMC04MDAwLTAwMDAwMDAwMDAwMSIsImkiOiIxNzAwMDAwMDAwMDAwIiwibSI6IkxvZ2luIGF0IEV4YW1wbGUiLCJrIjoiY2hhbGxlbmdlIiwibiI6IjM0LCA1Nix4LDgyIiwicCI6IntcImFcIjoxfSIsIngiOiJ7XCJsb2NhdGlvblwiOnt9fSIsImQiOiJkZW1vIn0.vLsLo0xyrBXMSXcjeK5n3qvoLqMZOS0cSx35gBtsZiU"
  /// The same with a header whose encoding is not a multiple of four.
  static let oddHeader =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiIsInoiOjF9.eyJjIjoiWkdWbVoyaHBhbXRzYlc1dmNIRnljM1IxZG5kNGVYcDdmSDErZjRDQmdvTT0iLCJsIjoiWVcxc1ltTnZiMnRwWlQwd01RPT0iLCJ0IjoiMTIwIiwidSI6IkEzRDhGMEMxLTAwMDAtNDAwMC04MDAwLTAwMDAwMDAwMDAwMSIsImkiOiIxNzAwMDAwMDAwMDAwIiwibSI6IkxvZ2luIGF0IEV4YW1wbGUiLCJrIjoiY2hhbGxlbmdlIiwibiI6IjM0LCA1Nix4LDgyIiwicCI6IntcImFcIjoxfSIsIngiOiJ7XCJsb2NhdGlvblwiOnt9fSIsImQiOiJkZW1vIn0.dYTgwdjipqsuB8eEKiyGPgZbyNczQKXxa6z87wE3X6Y"

  @Test("a message with all claims", arguments: [published, oddHeader])
  func allClaims(_ token: String) throws {
    let delivery = try PushAuthDelivery(messageID: "AUTHENTICATE:1", token: token)
    #expect(delivery.claimedMechanism == PushSamples.mechanism)
    let message = try delivery.verified(with: PushSamples.key())
    #expect(message.challenge == PushSamples.challenge && message.loadBalancer == "amlbcookie=01")
    #expect(message.timeToLive == 120 && message.createdMillis == 1_700_000_000_000)
    #expect(message.kind == .challenge && message.numbers == [34, 56, 82])
    #expect(message.text == "Login at Example" && message.customPayload == #"{"a":1}"#)
    #expect(message.context == #"{"location":{}}"# && message.userID == "demo")
    #expect(message.digest == HashFunction.sha256.digest(of: Array(token.utf8)))
  }

  @Test("the response to a challenge, as Python computes it") func response() throws {
    let key = try PushSamples.key()
    let response = "HLnb0Ch3S657qOL9mJCj1oNvskd0/DN6fVbuj3Q21i4="
    #expect(key.response(to: PushSamples.challenge) == response)
    #expect(key.isResponse(response, to: PushSamples.challenge))
    #expect(key.isResponse("HLnb0Ch3S657qOL9mJCj1oNvskd0_DN6fVbuj3Q21i4", to: PushSamples.challenge))
    #expect(!key.isResponse(response, to: [1]))
    #expect(!key.isResponse("HLnb0Ch3S657qOL9mJCj1oNvskd0", to: PushSamples.challenge))
    #expect(!key.isResponse("", to: PushSamples.challenge))
  }

  @Test("delivered forms: aps, a plain map, both, or a token only") func deliveries() throws {
    let token = Self.published
    let own: JSONObject = ["data": .string(token), "messageId": "M:1"]
    for map in [
      ["aps": .object(own)], ["aps": ["data": .string(token)], "messageId": "M:1"],
      ["aps": ["messageId": "M:1", "alert": "x"], "data": .string(token)], own,
      ["message": .string(token), "messageId": " M:1 "],
    ] as [JSONObject] {
      for delivery in [try PushAuthDelivery(userInfo: map), try PushAuthDelivery(map.text)] {
        #expect(delivery.messageID == "M:1" && delivery.token == token)
        #expect(try delivery.verified(with: PushSamples.key()).kind == .challenge)
      }
    }
    var claims = PushSamples.claims()
    claims["messageId"] = "M:2"
    let alone = try PushSamples.key().sign(claims)
    #expect(try PushAuthDelivery(" \(alone)\n").messageID == "M:2")
    for (map, failure) in [
      (["aps": ["data": .string(token)]], .missing("message id")), (["messageId": "M:1"], .missing("data")),
      (["aps": 1], .missing("data")), (["data": .string(token), "messageId": " "], .missing("message id")),
      (["data": .string(token), "messageId": 1], .missing("message id")),
      (["data": "x", "messageId": "1"], .token(.wrongSegmentCount(expected: 3))),
    ] as [(JSONObject, PushAuthFailure)] {
      #expect(throws: failure) { try PushAuthDelivery(userInfo: map) }
    }
    #expect(throws: PushAuthFailure.missing("message id")) { try PushAuthDelivery(token) }
    #expect(throws: PushAuthFailure.malformed(reason: "is not a JSON object")) { try PushAuthDelivery("{") }
    for text in ["", "hello", "Log in? Yes.", "a.b.c.d"] {
      #expect(
        throws: PushAuthFailure.malformed(
          reason: "is neither JSON with messageId and data, nor the signed token of one")
      ) { try PushAuthDelivery(text) }
    }
    #expect(throws: PushAuthFailure.malformed(reason: "is too long")) {
      try PushAuthDelivery(String(repeating: "a", count: 10_000_000))
    }
    #expect(throws: PushAuthFailure.self) { try PushAuthDelivery(messageID: "a\u{202E}b", token: token) }
    #expect(throws: PushAuthFailure.self) {
      try PushAuthDelivery(messageID: String(repeating: "m", count: 513), token: token)
    }
  }

  @Test("required claims and their allowed values")
  func claims() throws {
    func read(_ name: String, _ value: JSONValue?) throws -> PushAuthMessage {
      let token = try PushSamples.key().sign(PushSamples.claims(name, value))
      return try PushAuthDelivery(messageID: "M", token: token).verified(with: PushSamples.key())
    }
    for (name, said) in [
      ("c", "challenge (c)"), ("l", "load balancer (l)"), ("t", "time to live (t)"),
      ("u", "mechanism id (u)"),
    ] {
      #expect(throws: PushAuthFailure.missing(said)) { try read(name, nil) }
    }
    for (name, value) in [
      ("c", ""), ("c", 5), ("l", 5), ("u", ""), ("u", 5), ("c", "%%%"), ("t", "soon"), ("t", ""), ("t", "-1"),
      ("t", -1), ("t", "inf"), ("t", "nan"), ("t", "0x10"), ("t", "1e99"), ("t", true), ("t", "2592001"),
    ] as [(String, JSONValue)] {
      #expect(throws: PushAuthFailure.self, "\(name) \(value)") { try read(name, value) }
    }
    for (value, seconds) in [("60", 60), (60, 60), ("0.5", 0.5), (0.5, 0.5), (" 7 ", 7), ("1e2", 100)]
      as [(JSONValue, Double)]
    { #expect(try read("t", value).timeToLive == seconds) }
    for (value, millis) in [
      ("17", 17), (17, 17), ("x", nil), ("", nil), (nil, nil), ("-5", nil), (true, nil),
    ]
      as [(JSONValue?, Int64?)]
    { #expect(try read("i", value).createdMillis == millis) }
    for (value, kind) in [
      ("default", .default), ("BIOMETRIC", .biometric), ("Challenge", .challenge), ("other", .default),
      ("", .default), (nil, .default), (7, .default),
    ] as [(JSONValue?, PushAuthKind)] { #expect(try read("k", value).kind == kind) }
    // A value that is no text counts as absent; an empty cookie is valid, and one that is no Base64 is used unchanged.
    #expect(try read("m", 5).text == nil && read("d", "").userID == nil)
    #expect(
      try read("l", "").loadBalancer == "" && read("l", "amlbcookie=01").loadBalancer == "amlbcookie=01")
    #expect(throws: PushAuthFailure.self) { try read("m", .string(String(repeating: "a", count: 8193))) }
    #expect(throws: PushAuthFailure.self) { try read("l", "a\r\nX: y") }
    // Only a challenge has numbers.
    #expect(try read("n", "1,2").numbers.isEmpty)
  }

  @Test(
    "numbers of a comma-separated list are read, malformed ones skipped",
    arguments: [
      ("34,56,82", [34, 56, 82]), (" 34 ,\t56 ", [34, 56]), ("1,x,,2 3,4.5,0x6,7", [1, 7]), ("", []),
      (",", []),
      ("-5,+6,007", [-5, 6, 7]), ("99999999999999999999,1", [1]),
    ] as [(String, [Int64])])
  func numbers(text: String, numbers: [Int64]) { #expect(PushAuthNumbers.parse(text) == numbers) }

  @Test("many numbers are cut off") func manyNumbers() {
    let text = (0..<100_000).map(String.init).joined(separator: ",")
    #expect(PushAuthNumbers.parse(text).count == PushAuthNumbers.limit)
  }

  @Test("a message not signed with the mechanism's secret and HS256 is refused")
  func forged() throws {
    let claims = PushSamples.claims().text
    let key = try PushSamples.key()
    func refusal(_ token: String) throws -> PushAuthFailure? {
      do throws(PushAuthFailure) {
        _ = try PushAuthDelivery(messageID: "M", token: token).verified(with: key)
        return nil
      } catch { return error }
    }
    let good = PushSamples.token(PushSamples.header, claims)
    #expect(try refusal(good) == nil)
    let parts = good.split(separator: ".").map(String.init)
    func part(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }
    for (token, failure) in [
      (PushSamples.token(PushSamples.header, claims, key: [UInt8](1..<33)), .token(.invalidSignature)),
      (PushSamples.token(#"{"alg":"none","typ":"JWT"}"#, claims), .token(.unsecured)),
      (PushSamples.token(#"{"alg":"HS384"}"#, claims), .token(.algorithmNotAllowed)),
      (PushSamples.token(#"{"alg":"ES256"}"#, claims), .token(.algorithmNotAllowed)),
      (PushSamples.token(#"{"alg":"hs256"}"#, claims), .token(.unsupportedAlgorithm)),
      (PushSamples.token(#"{"alg":"HS256","crit":["exp"],"exp":1}"#, claims), .token(.unknownCritical)),
      ("\(parts[0]).\(parts[1]).", .token(.emptySignature)),
      ("\(parts[0]).\(parts[1])", .token(.wrongSegmentCount(expected: 3))),
      ("\(good).\(parts[2])", .token(.wrongSegmentCount(expected: 3))),
      ("\(parts[0])..\(parts[1]).\(parts[2])", .token(.wrongSegmentCount(expected: 3))),
      ("\(parts[0]).\(parts[1])=.\(parts[2])", .token(.notBase64URL(.payload))),
      (
        "\(parts[0]).\(part(PushSamples.claims("d", "mallory").text)).\(parts[2])", .token(.invalidSignature)
      ),
      (
        PushSamples.token(PushSamples.header, "[]"),
        .malformed(reason: "has claims that are not a JSON object")
      ),
      (
        PushSamples.token(PushSamples.header, #"{"u":"a","u":"b"}"#),
        .malformed(reason: "has claims that are not a JSON object")
      ),
      (String(repeating: "a", count: 20_000), .token(.tooLarge(byteCount: 20_000, limit: 16_384))),
    ] as [(String, PushAuthFailure)] {
      #expect(try refusal(token) == failure, "\(token.prefix(60))")
    }
  }

  @Test("each flipped bit of a token is refused") func flipped() throws {
    let key = try PushSamples.key()
    let token = Array(PushSamples.token(PushSamples.header, PushSamples.claims().text).utf8)
    for index in token.indices {
      for bit in [UInt8(1), 2, 4, 8, 16, 32] {
        var changed = token
        changed[index] ^= bit
        guard let text = String(validating: changed, as: UTF8.self) else { continue }
        #expect(throws: PushAuthFailure.self) {
          try PushAuthDelivery(messageID: "M", token: text).verified(with: key)
        }
      }
    }
  }

  @Test("secrets: none, short ones, and those that a device enrols with") func secrets() throws {
    #expect(throws: PushAuthFailure.weakSecret(byteCount: 0, least: 1)) { try PushSamples.key([]) }
    #expect(throws: PushAuthFailure.weakSecret(byteCount: 15, least: 16)) {
      try PushAuthKey(
        SecretBytes(copying: [UInt8](repeating: 1, count: 15)), atLeast: PushAuthKey.shortestEnrolledByteCount
      )
    }
    let key = try PushSamples.key(Array("secret".utf8))
    #expect(try key.claims(of: key.sign(["a": 1])) == ["a": 1])
  }

  @Test("a sent message is read back unchanged") func roundTrip() throws {
    var random = SplitMix64(seed: 61)
    let texts = [nil, "", "a", "ä🙂\n\"", "=", "QUJD", String(repeating: "x", count: 500)]
    for number in 0..<300 {
      let kind = PushAuthKind.allCases[number % 3]
      let message = PushAuthMessage(
        messageID: "M:\(number)", mechanismID: "u\(random.next())",
        challenge: (0...random.next(below: 40)).map { _ in UInt8.random(in: 0...255, using: &random) },
        loadBalancer: ["", "a=b", "QUJD", "ü"][random.next(below: 4)],
        timeToLive: [0, 120, 0.25, 86_400][random.next(below: 4)],
        createdMillis: [nil, 1_700_000_000_123][random.next(below: 2)], kind: kind,
        numbers: kind == .challenge ? [1, 22, 333] : [], text: texts[random.next(below: texts.count)],
        customPayload: texts[random.next(below: texts.count)],
        context: texts[random.next(below: texts.count)],
        userID: ["demo", nil][random.next(below: 2)], deviceName: texts[random.next(below: texts.count)])
      let received = try PushSamples.received(message)
      #expect(received.claims == message.claims && received.mechanismID == message.mechanismID)
      #expect(received.loadBalancer == message.loadBalancer && received.challenge == message.challenge)
    }
  }

  @Test("a message's description contains only its id") func redacted() throws {
    let message = PushSamples.message(text: "Pay 100")
    var dumped = "\(message)"
    dump(message, to: &dumped)
    #expect(dumped.contains("AUTHENTICATE:1"))
    #expect(
      !dumped.contains("Pay") && !dumped.contains("amlbcookie") && !dumped.contains(PushSamples.mechanism))
  }
}
