import Foundation
import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetTestKit
import SignetUAF
import Testing

/// Every operation and every error code of docs/signet-check.md, in one run of the process.
@Suite("The catalogue of signet-check", .timeLimit(.minutes(10)))
struct CatalogueTests {
  /// A request, and the expected member of `ok` or error code.
  private struct Line {
    let request: [UInt8]
    let expected: String

    init(_ request: JSONObject, _ expected: String) {
      (self.request, self.expected) = (request.bytes, expected)
    }

    init(raw: [UInt8], _ expected: String) { (request, self.expected) = (raw, expected) }
  }

  private static let secret = [UInt8](0..<32)
  private static let ec: JSONObject = [
    "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
  ]
  private static let jwe =
    "eyJhbGciOiJBMTI4S1ciLCJlbmMiOiJBMTI4Q0JDLUhTMjU2In0.6KB707dM9YTIgHtLvtgWQ8mKwboJW3of9locizkDTHzBC2IlrT1oOQ"
    + ".AxY8DCtDaGlsbGljb3RoZQ.KDlTtXchhZTGufMYmOYGS4HffxPSUrfmqCHXaI9wOGY.U0m_YmjN04DJvceFICbCVQ"
  private static let jweKey: JSONObject = ["kty": "oct", "k": "GawgguFyGrWKav7AX4VKUg"]
  private static let point =
    "0462d5bd3372af75fe85a040715d0f502428e07046868b0bfdfa61d731afe44f26ac333a93a9e70a81cd5a95b5bf8d13990eb741c8c38"
    + "872b4a07d275a014e30cf"
  private static let uri =
    "mfauth://totp/Acme:bob?secret=GEZDGNBVGY3TQOJQ&r=aHR0cHM6Ly9h&a=aHR0cHM6Ly9h&s=AAAA&c=_w&l=YQ&m=id"

  private static func token(_ header: String, _ payload: String) -> JSONValue {
    let input = [header, payload].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
    let code = HMACKey(SecretBytes(copying: secret), .sha256).authenticationCode(
      for: Array(input.utf8))
    return .string("\(input).\(Base64URL.encode(code))")
  }

  private static func push(_ claims: String) -> JSONObject {
    [
      "op": "push-message", "messageId": "M", "secretB64": .string(Base64.encode(secret)),
      "jwt": token(#"{"alg":"HS256","typ":"JWT"}"#, claims),
    ]
  }

  private static func jws(_ header: String, _ key: JSONObject? = nil) -> JSONObject {
    [
      "op": "jws-verify", "jws": token(header, "{}"),
      "jwk": .object(key ?? ["kty": "oct", "k": .string(Base64URL.encode(secret))]),
    ]
  }

  private static func uaf(scheme: String) -> JSONObject {
    let challenge = FinalChallenge(
      FinalChallengeParams(
        appID: "https://a.example", challenge: secret, facetID: "ios:bundle-id:a"))
    let message: JSONObject = [
      "header": .object(OperationHeader(operation: .registration, appID: "https://a.example").json),
      "fcParams": .string(challenge.text),
      "assertions": [["assertionScheme": .string(scheme), "assertion": "AT4AAA"]],
    ]
    return ["op": "uaf-verify", "response": [.object(message)]]
  }

  /// The successful requests, one for each operation.
  private static var answered: [Line] {
    [
      Line(["op": "base32-decode", "text": "MZXW6==="], "bytesHex"),
      Line(["op": "base32-encode", "bytesHex": "FFff"], "text"),
      Line(["op": "hotp", "secretHex": "3132", "counter": 0], "code"),
      Line(["op": "totp", "secretHex": "3132", "unixTime": 0], "validUntil"),
      Line(
        ["op": "ocra", "suite": "OCRA-1:HOTP-SHA1-6:QN08", "keyHex": "3132", "question": "1"],
        "response"),
      Line(["op": "uri-parse", "uri": .string(uri)], "push"),
      Line(["op": "uri-format", "account": "a", "secretHex": "3132"], "uri"),
      Line(["op": "push-response", "challengeB64": "_-8", "secretB64": "AQ=="], "responseB64"),
      Line(["op": "push-response", "challengeB64": "/+8=", "secretB64": "AQ"], "responseB64"),
      Line(push(#"{"c":"AQ==","l":"","t":"60","u":"m"}"#), "pushType"),
      Line(["op": "jwk", "jwk": .object(ec)], "thumbprintB64"),
      Line(jws(#"{"alg":"HS256"}"#), "payloadB64"),
      Line(["op": "jwe-decrypt", "jwe": .string(jwe), "jwk": .object(jweKey)], "plaintextB64"),
      Line(
        ["op": "ecdh", "encoding": "point", "publicHex": .string(point), "privateHex": "01"],
        "sharedHex"),
      Line(
        [
          "op": "ecdsa-verify", "encoding": "Point", "publicHex": .string(point), "messageHex": "",
          "signatureHex": "00",
        ], "valid"),
      Line(["op": "password-check", "policy": "MINLEN=1;MAXLEN=9", "password": "x"], "violations"),
      Line(["op": "policy-lint", "policy": "MINLEN=1;MAXLEN=9"], "findings"),
      Line(
        ["op": "policy-evaluate", "policies": ["screenLock": [:]], "unheardOf": [1]], "compliant"),
      Line(["op": "hkdf", "keyHex": "0b"], "bytesHex"),
      Line(wire("activation-confirm", "{\"confirmation\":\"\(Base64URL.encode(secret))\"}"), "text"),
      Line(file("otpauth://totp/a:b?secret=GEZDGNBVGY3TQOJQ\n"), "accounts"),
    ]
  }

  private static func wire(_ message: String, _ text: String) -> JSONObject {
    ["op": "wire-message", "message": .string(message), "text": .string(text)]
  }

  private static func file(_ text: String) -> JSONObject {
    ["op": "account-file", "fileHex": .string(Hex.encode(Array(text.utf8)))]
  }

  /// The rejected requests, one for each code.
  private static var refused: [Line] {
    let otp = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ"
    func parse(_ text: String) -> JSONObject { ["op": "uri-parse", "uri": .string(text)] }
    func hotp(_ member: String, _ value: JSONValue) -> JSONObject {
      var request: JSONObject = ["op": "hotp", "secretHex": "31", "counter": 0]
      request[member] = value
      return request
    }
    func ocra(_ suite: String, _ question: String, session: String = "") -> JSONObject {
      [
        "op": "ocra", "suite": .string("OCRA-1:HOTP-SHA1-6:\(suite)"), "keyHex": "31",
        "question": .string(question), "sessionHex": .string(session),
      ]
    }
    let oct: JSONObject = ["kty": "oct", "kid": "a", "k": .string(Base64URL.encode(secret))]
    var encrypting = oct
    encrypting["use"] = "enc"
    let twice = JSONObject(dictionaryLiteral: ("keys", .array([.object(oct), .object(oct)])))
    var outside = ec
    outside["y"] = ec["x"]
    return [
      Line(raw: Array("[1]".utf8), "input.malformed"), Line(raw: [], "input.malformed"),
      Line(raw: Array(#"{"op":"jwk","op":"jwk"}"#.utf8), "input.malformed"),
      Line(raw: [UInt8](repeating: 0x20, count: (1 << 20) + 1), "input.tooLong"),
      Line(["op": "hotp"], "input.missing"), Line([:], "input.missing"),
      Line(["op": 5], "input.invalid"),
      Line(hotp("secretHex", "0"), "input.invalid"), Line(["op": "HOTP"], "op.unknown"),
      Line(parse("x"), "uri.malformed"),
      Line(parse("otpauth://totp/%FF?secret=AA"), "uri.malformed"),
      Line(parse("https://a.example"), "uri.scheme"),
      Line(parse("otpauth://steam/x?secret=AA"), "uri.type"),
      Line(parse("otpauth://totp/x"), "uri.missing"),
      Line(parse("\(otp)&secret=GE"), "uri.repeated"),
      Line(parse("\(otp)&period=-1"), "uri.invalid"),
      Line(parse("\(otp)&algorithm=MD5"), "uri.algorithm"),
      Line(parse("\(otp)&x=" + String(repeating: "a", count: 9000)), "uri.tooLong"),
      Line(["op": "uri-format", "account": "", "secretHex": "31"], "uri.missing"),
      Line(parse("otpauth://totp/x?secret=A1"), "base32.symbol"),
      Line(["op": "base32-decode", "text": "A=A"], "base32.padding"),
      Line(["op": "base32-decode", "text": "A", "mode": "strict"], "base32.length"),
      Line(["op": "base32-decode", "text": "", "mode": "STRICT"], "base32.empty"),
      Line(
        ["op": "base32-decode", "text": .string(String(repeating: "A", count: 10_000))],
        "base32.tooLong"),
      Line(hotp("digits", 5), "oath.digits"), Line(parse("\(otp)&digits=11"), "oath.digits"),
      Line(["op": "totp", "secretHex": "31", "unixTime": 0, "period": 3601], "oath.period"),
      Line(hotp("secretHex", ""), "oath.secret"),
      Line(["op": "totp", "secretHex": "31", "unixTime": 9, "t0": 10], "oath.time"),
      Line(ocra("QN99", "1"), "ocra.suite"), Line(ocra("QN08", "12a"), "ocra.challengeFormat"),
      Line(ocra("QN08", "123456789"), "ocra.challengeTooLong"),
      Line(
        ocra("QN08-S064", "1", session: String(repeating: "00", count: 65)), "ocra.session"),
      Line(["op": "jws-verify", "jws": "a.b", "jwk": [:]], "jose.malformed"),
      Line(jws(#"{"alg":"HS256","crit":["x"],"x":1}"#), "jose.extension"),
      Line(jws(#"{"alg":"none"}"#), "jose.algorithm"),
      Line(jws(#"{"alg":"HS512"}"#), "jose.algorithm"),
      Line(
        jws(
          #"{"alg":"HS256"}"#,
          ["kty": "oct", "k": .string(Base64URL.encode([UInt8](repeating: 1, count: 32)))]),
        "jws.signature"),
      Line(
        [
          "op": "jwe-decrypt", "jwe": .string(jwe),
          "jwk": ["kty": "oct", "k": .string(Base64URL.encode(Array(secret.prefix(16))))],
        ], "jwe.decryption"),
      Line(["op": "jwk", "jwk": ["kty": "EC"]], "jwk.malformed"),
      Line(["op": "jwk", "jwk": ["kty": "OKP"]], "jwk.unsupported"),
      Line(["op": "jwk", "jwk": .object(outside)], "jwk.invalid"),
      Line(["op": "jwk", "jwk": ["kty": "oct", "k": ""]], "jwk.weak"),
      Line(["op": "jwe-decrypt", "jwe": .string(jwe), "jwk": .object(ec)], "jwk.private"),
      Line(jws(#"{"alg":"HS256"}"#, encrypting), "jwk.notPermitted"),
      Line(jws(#"{"alg":"HS256"}"#, twice), "jwk.set"),
      Line(jws(#"{"alg":"HS256","kid":"b"}"#, ["keys": [.object(oct)]]), "jwk.notFound"),
      Line(push("[]"), "push.malformed"), Line(push(#"{"u":"m"}"#), "push.missing"),
      Line(push(#"{"c":"AQ==","l":"","t":"soon","u":"m"}"#), "push.invalid"),
      Line(["op": "push-response", "challengeB64": "AQ", "secretB64": ""], "push.secret"),
      Line(
        ["op": "ecdh", "encoding": "spki", "publicHex": "30", "privateHex": "01"], "key.public"),
      Line(
        ["op": "ecdh", "encoding": "point", "publicHex": .string(point), "privateHex": "00"],
        "key.private"),
      Line(["op": "uaf-verify", "response": "[]"], "uaf.message"),
      Line(uaf(scheme: "OTHER"), "uaf.scheme"),
      Line(["op": "uaf-verify", "assertionB64": "AT4AAA"], "uaf.assertion"),
      Line(["op": "policy-evaluate", "policies": ["a b": [:]]], "policy.invalid"),
      Line(
        ["op": "password-check", "policy": "NUM=8;MAXLEN=6", "password": "x"], "policy.invalid"),
      Line(
        ["op": "password-check", "policy": "TYPE=device", "password": "x"], "policy.noPassword"),
      Line(
        ["op": "password-check", "policy": "MINLEN=6;DICT=1", "password": "x"], "policy.dictionary"),
      Line(["op": "hkdf", "keyHex": "0b", "byteCount": 8161], "input.invalid"),
      Line(["op": "hkdf", "keyHex": "0b", "byteCount": 0], "input.invalid"),
      Line(wire("unheard-of", "{}"), "input.invalid"),
      Line(wire("decision", "[]"), "wire.malformed"),
      Line(wire("activation-start", #"{"version":2,"user":"a","nonce":""}"#), "wire.version"),
      Line(wire("activation-confirm", #"{"confirmation":"AA"}"#), "wire.invalid"),
      Line(file(#"{"version":1,"header":{"slots":[]},"db":"AAAA"}"#), "file.encrypted"),
      Line(file("hello"), "file.invalid"),
    ]
  }

  /// Codes that no line can cause; the first, because the same length limits a line.
  private static let unreachable: Set = [
    "jose.tooLarge", "oath.other", "ocra.input", "jose.other", "push.other", "crypto.other",
    "wire.other", "internal",
  ]

  /// The first cells of the table below a heading.
  private static func documented(below heading: String) throws -> Set<String> {
    let file = URL(filePath: #filePath).appending(path: "../../../docs/signet-check.md")
      .standardized
    let lines = try String(contentsOf: file, encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false)
    let section = lines.drop { $0 != "## \(heading)" }.dropFirst().prefix { !$0.hasPrefix("## ") }
    let rows = section.drop { !$0.hasPrefix("|---") }.dropFirst().prefix { $0.hasPrefix("| ") }
    let names = rows.flatMap { row in
      (row.split(separator: "|").first ?? "").split(separator: "`").enumerated()
        .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
    }
    return Set(names)
  }

  @Test("each line gets its expected answer, all in one run, in order")
  func lines() throws {
    let lines = Self.answered + Self.refused
    let answers = try CheckTool.answers(to: lines.map(\.request))
    try #require(answers.count == lines.count)
    for (line, answer) in zip(lines, answers) {
      let found =
        answer.ok.map { $0.contains(line.expected) ? line.expected : $0.text } ?? answer.errorCode
      #expect(
        found == line.expected,
        "\(String(decoding: line.request.prefix(200), as: UTF8.self)) \(answer.text)")
      #expect(answer.contains("id") && answer.count == 2)
    }
  }

  @Test("the lines, the documents and the process have the same operations")
  func operations() throws {
    let documented = try Self.documented(below: "Operations")
    let tried = try Set(
      // `CheckUAFOperationTests` makes the responses for UAF.
      Self.answered.map { try JSONObject(parsing: $0.request).string("op") } + ["uaf-verify"])
    #expect(tried == documented)
    let help = try CheckTool.run([], ["--help"])
    let known = String(decoding: help.output, as: UTF8.self).split(separator: "\n").filter {
      $0.hasPrefix("  ")
    }
    #expect(Set(known.map { $0.drop { $0 == " " } }.map(String.init)) == documented)
    // Each reports its missing member and does not fail in another way.
    let empty = try CheckTool.answers(
      to: documented.sorted().map { ["op": .string($0)] as JSONObject })
    for (operation, answer) in zip(documented.sorted(), empty) where operation != "policy-evaluate" {
      #expect(
        ["input.missing", "uri.missing"].contains(answer.errorCode), "\(operation) \(answer.text)")
    }
  }

  @Test("the lines and the documents have the same error codes")
  func codes() throws {
    let documented = try Self.documented(below: "Error codes")
    let tried = Set(Self.refused.map(\.expected))
    #expect(tried.symmetricDifference(documented.subtracting(Self.unreachable)).isEmpty)
    #expect(Self.unreachable.isSubset(of: documented))
  }

  @Test("uri-format turns the answer of uri-parse back into the same account")
  func roundTrip() throws {
    let texts = [
      Self.uri,
      "otpauth://hotp/a%3Ab:c%20d?secret=GEZDGNBVGY3TQOJQ&counter=18446744073709551615&digits=8&x=%26",
      "otpauth://totp/Acme:n?secret=GEZDGNBVGY3TQOJQ&issuer=Other&algorithm=SHA512&period=60&image=https://a/i",
      "pushauth://push/n?r=aHR0cHM6Ly9h&a=aHR0cHM6Ly9i&s=AQI&issuer=QWNtZQ&d=dQ&pid=cA&b=%23fff"
        + "&policies=eyJkZXZpY2VUYW1wZXJpbmciOnsic2NvcmUiOjAuNX19",
    ]
    let parsed = try CheckTool.answers(
      to: texts.map { ["op": "uri-parse", "uri": .string($0)] as JSONObject })
    let formatted = try CheckTool.answers(
      to: parsed.map { answer -> JSONObject in
        var members = try #require(answer.ok)
        members["op"] = "uri-format"
        return members
      })
    let again = try CheckTool.answers(
      to: formatted.map { ["op": "uri-parse", "uri": try #require($0.ok?["uri"])] as JSONObject })
    for (first, second) in zip(parsed, again) {
      #expect(first.ok == second.ok, "\(first.text) \(second.text)")
    }
    #expect(again.count == texts.count)
  }

  @Test("HKDF matches RFC 5869 appendices A.1, A.3 and A.4")
  func hkdf() throws {
    let key = JSONValue.string(String(repeating: "0b", count: 22))
    let (salt, info): (JSONValue, JSONValue) = ("000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9")
    let requests: [JSONObject] = [
      ["op": "hkdf", "keyHex": key, "saltHex": salt, "infoHex": info, "byteCount": 42],
      ["op": "hkdf", "keyHex": key, "byteCount": 42],
      [
        "op": "hkdf", "keyHex": .string(String(repeating: "0b", count: 11)), "saltHex": salt, "infoHex": info,
        "byteCount": 42, "algorithm": "sha1",
      ],
    ]
    let derived = try CheckTool.answers(to: requests).map { $0.ok?["bytesHex"] ?? .null }
    #expect(
      derived == [
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
        "085a01ea1b10f36933068b56efa5ad81a4f14b822f5b091568a9cdd4f155fda2c22e422478d305f3f896",
      ])
  }

  @Test("a parsed message is printed unchanged, and each account of a file has its secret")
  func messagesAndFiles() throws {
    let confirm = "{\"confirmation\":\"\(Base64URL.encode(Self.secret))\"}"
    let uris = "otpauth://hotp/a:b?secret=GEZDGNBVGY3TQOJQ&counter=7&issuer=a\notpauth://x\n"
    let answers = try CheckTool.answers(to: [
      Self.wire("activation-confirm", confirm), Self.file(uris),
    ])
    try #require(answers.count == 2)
    let (printed, read) = (try #require(answers[0].ok), try #require(answers[1].ok))
    #expect(try printed.string("text") == confirm)
    #expect(try read.string("format") == "otpauth")
    #expect(
      try read.array("accounts") == [
        [
          "issuer": "a", "account": "b", "algorithm": "SHA1", "digits": 6,
          "secretHex": "31323334353637383930", "type": "hotp", "counter": "7",
        ]
      ])
    guard case .object(let skipped)? = try read.array("skipped").first else {
      Issue.record("nothing is skipped")
      return
    }
    #expect(try skipped.integer("position") == 2 && skipped.string("title") == "otpauth://x")
  }

  @Test(
    "six thousand mutations of these lines are each answered, and no failure is an unforeseen one")
  func mutations() throws {
    var random = SplitMix64(seed: 66)
    let lines = (Self.answered + Self.refused).map(\.request).filter {
      !$0.isEmpty && $0.count < 20_000
    }
    let fragments = [
      "\"", "}", "[", "\\u0000", "%25", "://", "&", "=", "-1", "1e999", "null", "..", "é", ".",
    ]
    let mutated = (0..<6000).map { number -> [UInt8] in
      var line = lines[number % lines.count]
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let position = Int.random(in: 0...line.count, using: &random)
        switch random.next(below: 3) {
        case 0 where position < line.count: line[position] ^= UInt8(1 << random.next(below: 8))
        case 1: line.removeSubrange(position..<min(line.count, position + random.next(below: 6)))
        default:
          line.insert(contentsOf: fragments[random.next(below: fragments.count)].utf8, at: position)
        }
      }
      return line.filter { $0 != 0x0A }
    }
    let answers = try CheckTool.answers(to: mutated)
    try #require(answers.count == mutated.count)
    for (line, answer) in zip(mutated, answers) {
      let isAnswer = answer.count == 2 && (answer.ok != nil) != (answer.errorCode != nil)
      #expect(
        isAnswer && answer.errorCode.map { !Self.unreachable.contains($0) } ?? true,
        "\(String(decoding: line, as: UTF8.self)) \(answer.text)")
    }
  }
}
