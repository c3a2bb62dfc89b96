import Foundation
import SignetCrypto
import SignetJSON
import SignetUAF
import Testing
import UAFFixture

@Suite(.timeLimit(.minutes(10))) struct CheckUAFOperationTests {
  /// A registration and an authentication of one key, as JSON texts.
  private struct Pair {
    let key = UAFTestKey(isDER: true)
    let registration: String
    let authentication: String
    let finalChallenge: String
    let assertion: [UInt8]

    init() throws {
      let params = FinalChallengeParams(
        appID: "https://a.example", challenge: [UInt8](1...32), facetID: "ios:bundle-id:a")
      let challenge = FinalChallenge(params)
      finalChallenge = challenge.text
      func message(_ operation: UAFOperation, _ assertion: [UInt8]) -> JSONObject {
        [
          "header": .object(OperationHeader(operation: operation, appID: "https://a.example").json),
          "fcParams": .string(challenge.text),
          "assertions": [["assertionScheme": "UAFV1TLV", "assertion": .string(Base64URL.encode(assertion))]],
        ]
      }
      let registered = try key.registrationAssertion(key.registrationElements(challenge.hash))
      registration = JSONValue.array([.object(message(.registration, registered))]).text
      assertion = try key.authenticationAssertion(key.authenticationElements(challenge.hash))
      authentication = JSONValue.array([.object(message(.authentication, assertion))]).text
    }
  }

  @Test("a registration is read as text, as JSON, as a single message and as an HTTP body")
  func registration() throws {
    let pair = try Pair()
    let list = try JSONValue(parsing: pair.registration)
    guard case .array(let elements) = list, let only = elements.first else {
      Issue.record("another case")
      return
    }
    let carried: JSONObject = ["uafResponse": .string(pair.registration), "context": "{}"]
    for response in [.string(pair.registration), list, only, .string(carried.text), .object(carried)]
      as [JSONValue]
    {
      let answer = try CheckTool.answer(to: ["id": 1, "op": "uaf-verify", "response": response])
      let ok = try #require(answer.ok)
      #expect(
        ok["kind"] == "registrationResponse" && ok["signatureValid"] == true && ok["acceptable"] == true)
      #expect(ok["aaid"] == "7357#0001" && ok["keyIDB64"] == .string(pair.key.keyID.text))
      #expect(ok["signatureAlgorithm"] == "0x0002" && ok["publicKeyFormat"] == "0x0101")
      #expect(ok["attestation"] == "basic_surrogate" && ok["attestationTag"] == "0x3E08")
      #expect(ok["signCounter"] == 1 && ok["regCounter"] == 1 && ok["finalChallengeMatches"] == true)
    }
  }

  @Test("an authentication is verified with its key, another key and no key") func authentication() throws {
    let pair = try Pair()
    let hex = JSONValue.string(Hex.encode(pair.key.encodedKey))
    func answer(_ members: JSONObject) throws -> JSONObject {
      var request: JSONObject = ["id": 1, "op": "uaf-verify", "response": .string(pair.authentication)]
      for member in members.members { request[member.name] = member.value }
      return try CheckTool.answer(to: request)
    }
    for format in [nil, "0x0101", 257, "alg_key_ecc_x962_der"] as [JSONValue?] {
      var members: JSONObject = ["publicKeyHex": hex]
      if let format { members["keyFormat"] = format }
      #expect(try answer(members).ok?["signatureValid"] == true)
    }
    let other = JSONValue.string(Hex.encode(UAFTestKey().encodedKey))
    let wrong = try #require(try answer(["publicKeyHex": other]).ok)
    #expect(wrong["signatureValid"] == false && wrong["acceptable"] == false)
    let unknown = try #require(try answer([:]).ok)
    #expect(
      !unknown.contains("signatureValid") && unknown["transactionHashHex"] == ""
        && unknown["acceptable"] == false)
    #expect(try answer(["publicKeyHex": hex, "keyFormat": "point"]).errorCode == "input.invalid")
    #expect(try answer(["publicKeyHex": hex, "keyFormat": true]).errorCode == "input.invalid")
    #expect(try answer(["publicKeyHex": "0"]).errorCode == "input.invalid")
    // With another format, the key verifies nothing.
    let strange = try #require(try answer(["publicKeyHex": hex, "keyFormat": "0x0102"]).ok)
    #expect(strange["signatureValid"] == false)
  }

  @Test("push messages of apps, clients and servers; requests are refused") func carriers()
    throws
  {
    let pair = try Pair()
    let text = JSONValue.string(pair.registration)
    let list = try JSONValue(parsing: pair.registration)
    let inner: JSONObject = ["uafProtocolMessage": text, "additionalData": [:]]
    for carried in [
      ["uafResponse": text, "context": "{}"], ["uafResponse": list], inner, ["uafProtocolMessage": list],
      ["uafResponse": .string(inner.text)], ["uafResponse": .object(inner)],
    ] as [JSONObject] {
      let answer = try CheckTool.answer(to: ["op": "uaf-verify", "response": .string(carried.text)])
      #expect(answer.ok?["signatureValid"] == true, "\(carried.text.prefix(80))")
    }
    var deep = JSONValue.string(pair.registration)
    for _ in 0..<5 { deep = .object(["uafResponse": deep]) }
    let header = JSONValue.object(OperationHeader(operation: .registration, appID: nil).json)
    let request: JSONObject = ["header": header, "challenge": "AAAAAAAAAAA", "username": "a", "policy": [:]]
    for (response, words) in [
      (deep, "uafProtocolMessage"), (.object([:]), "uafProtocolMessage"),
      (.object(["statusCode": 1200]), "uafProtocolMessage"),
      (.object(["uafResponse": 1]), "not a JSON array"),
      (.array([.object(request)]), "request of a server"),
      (.object(["uafRequest": .string(JSONValue.array([.object(request)]).text)]), "request of a server"),
    ] as [(JSONValue, String)] {
      let answer = try CheckTool.answer(to: ["op": "uaf-verify", "response": response])
      #expect(answer.errorCode == "uaf.message" && answer.text.contains(words), "\(answer.text)")
    }
  }

  @Test("assertions with padding are read; the other alphabet is refused with a hint") func encodings()
    throws
  {
    var pair = try Pair()
    while !Base64.encode(pair.assertion).contains(where: { "+/".contains($0) })
      || pair.assertion.count.isMultiple(of: 3)
    { pair = try Pair() }
    let standard = Base64.encode(pair.assertion)
    let padded = standard.replacing("+", with: "-").replacing("/", with: "_")
    let plain = Base64URL.encode(pair.assertion)
    for (text, isValid) in [(padded, true), (standard, false), (plain, true), (plain + "=\n", false)] {
      let inside = pair.authentication.replacing(plain, with: text.replacing("\n", with: "\\n"))
      for request in [
        ["op": "uaf-verify", "assertionB64": .string(text)],
        ["op": "uaf-verify", "response": .string(inside)],
      ] as [JSONObject] {
        let answer = try CheckTool.answer(to: request)
        #expect(isValid ? answer.ok != nil : answer.text.contains("write - and _ in place of + and /"))
      }
    }
  }

  @Test("a key in the wrong format and a wrong signature have different errors") func formats()
    throws
  {
    let pair = try Pair()
    func objections(_ key: [UInt8], _ format: JSONValue?) throws -> String {
      var request: JSONObject = [
        "op": "uaf-verify", "response": .string(pair.authentication),
        "publicKeyHex": .string(Hex.encode(key)),
      ]
      if let format { request["keyFormat"] = format }
      let ok = try #require(try CheckTool.answer(to: request).ok)
      #expect(ok["signatureValid"] == false && ok["acceptable"] == false)
      return ok["objections"]?.text ?? ""
    }
    let der = pair.key.encodedKey
    let point = pair.key.privateKey.publicKey.x963Representation
    #expect(try objections(der, "0x0103").contains("is not a key format for"))
    #expect(try objections(der, "0x0103").contains("use 0x0100 or 0x0101"))
    #expect(try objections(der, "0x0100").contains("looks like ALG_KEY_ECC_X962_DER (0x0101)"))
    #expect(try objections(point, "0x0101").contains("looks like ALG_KEY_ECC_X962_RAW (0x0100)"))
    #expect(try objections([0x02] + point[1...32], nil).contains("send it uncompressed"))
    #expect(try objections(Array(point.dropFirst()), nil).contains("send it uncompressed"))
    #expect(try objections([1, 2, 3], nil).contains("use 0x0100 or 0x0101"))
  }

  @Test("an assertion alone, with and without its final challenge") func assertion() throws {
    let pair = try Pair()
    let base: JSONObject = [
      "op": "uaf-verify", "assertionB64": .string(Base64URL.encode(pair.assertion)),
      "publicKeyHex": .string(Hex.encode(pair.key.encodedKey)),
    ]
    let alone = try #require(try CheckTool.answer(to: base).ok)
    #expect(alone["kind"] == "authenticationAssertion" && alone["signatureValid"] == true)
    #expect(!alone.contains("finalChallengeMatches"))
    for (text, matches) in [(pair.finalChallenge, true), (pair.finalChallenge + "A", false)] {
      var request = base
      request["fcParams"] = .string(text)
      #expect(try CheckTool.answer(to: request).ok?["finalChallengeMatches"] == .bool(matches))
    }
  }

  @Test("each unreadable input has a stable error code") func refusals() throws {
    let pair = try Pair()
    let cut = String(decoding: Array(pair.registration.utf8).dropLast(3), as: UTF8.self)
    let scheme = pair.registration.replacing("UAFV1TLV", with: "OTHER")
    for (request, code) in [
      (["op": "uaf-verify"], "input.missing"), (["op": "uaf-verify", "response": 1], "input.invalid"),
      (["op": "uaf-verify", "response": "[]", "assertionB64": "AA"], "input.invalid"),
      (["op": "uaf-verify", "response": "[]"], "uaf.message"),
      (["op": "uaf-verify", "response": "x"], "uaf.message"),
      (["op": "uaf-verify", "response": .string(cut)], "uaf.message"),
      (["op": "uaf-verify", "response": .string(scheme)], "uaf.scheme"),
      (["op": "uaf-verify", "assertionB64": "$"], "input.invalid"),
      (["op": "uaf-verify", "assertionB64": "AT4AAA"], "uaf.assertion"),
      (["op": "uaf-verify", "assertionB64": ""], "uaf.assertion"),
    ] as [(JSONObject, String)] {
      #expect(try CheckTool.answer(to: request).errorCode == code, "\(request.text)")
    }
  }
}
