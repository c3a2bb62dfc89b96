import SignetCrypto
import SignetOATH
import Testing

/// The vectors of RFC 6287 appendix C, and every rejection.
@Suite("OCRA (RFC 6287)")
struct OCRATests {
  private static let digits = "1234567890"
  private static let pin = SharedSecretBox(SecretBytes(copying: Array("1234".utf8)))
  /// 25 March 2008, 12:06:30 UTC, whose minute is 0x132D0B6.
  private static let time: Int64 = 1_206_446_790

  /// The key of 20, 32 or 64 bytes, in the length of the hash function.
  private static func ocra(_ suite: String) throws -> OCRA {
    let suite = try OCRASuite(suite)
    let text = String(repeating: digits, count: 7).prefix(suite.algorithm.hash.byteCount)
    return try OCRA(secret: SecretBytes(copying: Array(text.utf8)), suite: suite)
  }

  private static let repeated = (0..<10).map { String(repeating: String($0), count: 8) }

  @Test(
    "C.1: one way, SHA-1",
    arguments: zip(
      repeated,
      [
        "237653", "243178", "653583", "740991", "608993", "388898", "816933", "224598", "750600", "294470",
      ]))
  func oneWay(challenge: String, response: String) throws {
    let ocra = try Self.ocra("OCRA-1:HOTP-SHA1-6:QN08")
    #expect(try ocra.response(to: OCRAChallenge(challenge, for: ocra.suite)) == response)
  }

  @Test(
    "C.1: one way with a counter and a PIN",
    arguments: zip(
      UInt64(0)...9,
      [
        "65347737", "86775851", "78192410", "71565254", "10104329", "65983500", "70069104", "91771096",
        "75011558", "08522129",
      ]))
  func counterAndPIN(counter: UInt64, response: String) throws {
    let ocra = try Self.ocra("OCRA-1:HOTP-SHA256-8:C-QN08-PSHA1")
    let challenge = try OCRAChallenge("12345678", for: ocra.suite)
    #expect(try ocra.response(to: challenge, OCRAInput(counter: counter, pin: Self.pin)) == response)
  }

  @Test(
    "C.1: one way with a PIN",
    arguments: zip(repeated, ["83238735", "01501458", "17957585", "86776967", "86807031"]))
  func withPIN(challenge: String, response: String) throws {
    let ocra = try Self.ocra("OCRA-1:HOTP-SHA256-8:QN08-PSHA1")
    #expect(
      try ocra.response(to: OCRAChallenge(challenge, for: ocra.suite), OCRAInput(pin: Self.pin)) == response)
  }

  @Test(
    "C.1: one way with a counter, SHA-512",
    arguments: zip(
      UInt64(0)...9,
      [
        "07016083", "63947962", "70123924", "25341727", "33203315", "34205738", "44343969", "51946085",
        "20403879", "31409299",
      ]))
  func withCounter(counter: UInt64, response: String) throws {
    let ocra = try Self.ocra("OCRA-1:HOTP-SHA512-8:C-QN08")
    let challenge = try OCRAChallenge(Self.repeated[Int(counter)], for: ocra.suite)
    #expect(try ocra.response(to: challenge, OCRAInput(counter: counter)) == response)
  }

  @Test(
    "C.1: one way with the time",
    arguments: zip(repeated, ["95209754", "55907591", "22048402", "24218844", "36209546"]))
  func withTime(challenge: String, response: String) throws {
    let ocra = try Self.ocra("OCRA-1:HOTP-SHA512-8:QN08-T1M")
    let challenge = try OCRAChallenge(challenge, for: ocra.suite)
    #expect(try ocra.response(to: challenge, OCRAInput(unixTime: Self.time)) == response)
    #expect(try ocra.response(to: challenge, OCRAInput(unixTime: Self.time - 30)) == response)
    #expect(try ocra.response(to: challenge, OCRAInput(unixTime: Self.time + 30)) != response)
  }

  @Test(
    "C.2: mutual, the server's and the client's response",
    arguments: [
      (
        "SHA256", "", ["28247970", "01984843", "65387857", "03351211", "83412541"],
        ["15510767", "90175646", "33777207", "95285278", "28934924"]
      ),
      (
        "SHA512", "-PSHA1", ["79496648", "76831980", "12250499", "90856481", "12761449"],
        ["18806276", "70020315", "01600026", "18951020", "32528969"]
      ),
    ])
  func mutual(hash: String, clientInputs: String, server: [String], client: [String]) throws {
    let serverSide = try Self.ocra("OCRA-1:HOTP-\(hash)-8:QA08")
    let clientSide = try Self.ocra("OCRA-1:HOTP-\(hash)-8:QA08\(clientInputs)")
    for index in 0..<5 {
      let asked = try OCRAChallenge("CLI2222\(index)", for: clientSide.suite)
      let returned = try OCRAChallenge("SRV1111\(index)", for: serverSide.suite)
      #expect(try serverSide.serverResponse(client: asked, server: returned) == server[index])
      let input = OCRAInput(pin: clientInputs.isEmpty ? nil : Self.pin)
      #expect(try clientSide.clientResponse(client: asked, server: returned, input) == client[index])
    }
  }

  @Test(
    "C.3: plain signature",
    arguments: zip(0..<5, ["53095496", "04110475", "31331128", "76028668", "46554205"]))
  func signature(index: Int, response: String) throws {
    let ocra = try Self.ocra("OCRA-1:HOTP-SHA256-8:QA08")
    #expect(try ocra.response(to: OCRAChallenge("SIG1\(index)000", for: ocra.suite)) == response)
  }

  @Test(
    "C.3: plain signature with the time",
    arguments: zip(0..<5, ["77537423", "31970405", "10235557", "95213541", "65360607"]))
  func timedSignature(index: Int, response: String) throws {
    let ocra = try Self.ocra("OCRA-1:HOTP-SHA512-8:QA10-T1M")
    let challenge = try OCRAChallenge("SIG1\(index)00000", for: ocra.suite)
    #expect(try ocra.response(to: challenge, OCRAInput(unixTime: Self.time)) == response)
  }

  /// RFC 6287 has no vectors for section 7.4: these come from Python's `hmac`, which reproduces those of C.2 and C.3.
  @Test(
    "7.4: mutual signature: the server's answer first, over the server's challenge",
    arguments: zip(
      0..<5,
      [
        ("20324498", "47871112"), ("05551356", "51383624"), ("42220619", "76606309"),
        ("56061207", "18849560"), ("02425366", "64908333"),
      ]))
  func signatureBothWays(index: Int, responses: (server: String, client: String)) throws {
    let ocra = try Self.ocra("OCRA-1:HOTP-SHA256-8:QA08")
    let asked = try OCRAChallenge("CLI2222\(index)", for: ocra.suite)
    let signed = try OCRAChallenge(signing: ["SIG1\(index)", "000"], for: ocra.suite)
    #expect(try ocra.serverResponse(client: asked, server: signed) == responses.server)
    #expect(try ocra.clientResponse(client: asked, server: signed) == responses.client)
    // A changed byte of the signed text changes the signature and the server's answer.
    let other = try OCRAChallenge(signing: ["SIG1\(index)", "001"], for: ocra.suite)
    #expect(try ocra.serverResponse(client: asked, server: other) != responses.server)
    #expect(try ocra.clientResponse(client: asked, server: other) != responses.client)
  }

  @Test(
    "7.4: the same with the time",
    arguments: zip(
      0..<5,
      [
        ("40817946", "06915518"), ("17211610", "87362472"), ("93735784", "78074851"),
        ("63294065", "30662715"), ("89475215", "65180305"),
      ]))
  func timedSignatureBothWays(index: Int, responses: (server: String, client: String)) throws {
    let ocra = try Self.ocra("OCRA-1:HOTP-SHA512-8:QA10-T1M")
    let asked = try OCRAChallenge("CLI22220\(index)0", for: ocra.suite)
    let signed = try OCRAChallenge("SIG1\(index)00000", for: ocra.suite)
    let input = OCRAInput(unixTime: Self.time)
    #expect(try ocra.serverResponse(client: asked, server: signed, input) == responses.server)
    #expect(try ocra.clientResponse(client: asked, server: signed, input) == responses.client)
  }

  @Test("without digits the response is the whole HMAC")
  func untruncated() throws {
    let whole = try Self.ocra("OCRA-1:HOTP-SHA256-0:QA08")
    let text = try whole.response(to: OCRAChallenge("SIG10000", for: whole.suite))
    #expect(text.utf8.count == 64)
    #expect(text.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 })
  }

  @Test("session information is padded with leading zeros to the suite's length")
  func session() throws {
    let ocra = try Self.ocra("OCRA-1:HOTP-SHA256-8:QA08-S064")
    let challenge = try OCRAChallenge("SIG10000", for: ocra.suite)
    let padded = [UInt8](repeating: 0, count: 61) + [1, 2, 3]
    #expect(
      try ocra.response(to: challenge, OCRAInput(session: [1, 2, 3]))
        == ocra.response(to: challenge, OCRAInput(session: padded)))
    #expect(throws: OCRAFailure.sessionTooLong(byteCount: 65, limit: 64)) {
      try ocra.response(to: challenge, OCRAInput(session: padded + [4]))
    }
  }

  @Test("an odd number of hexadecimal digits fills the upper half of its last byte")
  func oddDigits() throws {
    let ocra = try Self.ocra("OCRA-1:HOTP-SHA256-8:QH08")
    #expect(
      try ocra.response(to: OCRAChallenge("abc", for: ocra.suite))
        == ocra.response(to: OCRAChallenge("ABC0", for: ocra.suite)))
    #expect(
      try ocra.response(to: OCRAChallenge("abc", for: ocra.suite))
        != ocra.response(to: OCRAChallenge("0ABC", for: ocra.suite)))
  }

  @Test("exactly the inputs of the suite are required")
  func inputs() throws {
    let all = try Self.ocra("OCRA-1:HOTP-SHA1-6:C-QN08-PSHA1-S064-T1M")
    let challenge = try OCRAChallenge("1", for: all.suite)
    let full = OCRAInput(counter: 1, pin: Self.pin, session: [1], unixTime: 1)
    _ = try all.response(to: challenge, full)
    let cases: [(OCRAFailure.Input, (inout OCRAInput) -> Void)] = [
      (.counter, { $0.counter = nil }), (.pin, { $0.pin = nil }), (.session, { $0.session = nil }),
      (.time, { $0.unixTime = nil }),
    ]
    for (input, remove) in cases {
      var partial = full
      remove(&partial)
      #expect(throws: OCRAFailure.missing(input)) { try all.response(to: challenge, partial) }
    }
    let none = try Self.ocra("OCRA-1:HOTP-SHA1-6:QN08")
    let extra: [(OCRAFailure.Input, OCRAInput)] = [
      (.counter, OCRAInput(counter: 1)), (.pin, OCRAInput(pin: Self.pin)), (.session, OCRAInput(session: [])),
      (.time, OCRAInput(unixTime: 1)),
    ]
    for (input, given) in extra {
      #expect(throws: OCRAFailure.unexpected(input)) { try none.response(to: challenge, given) }
    }
    #expect(throws: OCRAFailure.timeBeforeStart) {
      try all.response(to: challenge, OCRAInput(counter: 1, pin: Self.pin, session: [1], unixTime: -1))
    }
    #expect(throws: OCRAFailure.emptySecret) {
      _ = try OCRA(secret: SecretBytes(copying: []), suite: none.suite)
    }
  }
}

@Suite("OCRA suites (RFC 6287 section 6)")
struct OCRASuiteTests {
  @Test("every part is reported")
  func parts() throws {
    let suite = try OCRASuite("OCRA-1:HOTP-SHA512-8:C-QH40-PSHA256-S128-T48H")
    #expect(suite.algorithm == .sha512)
    #expect(suite.digits == 8)
    #expect(suite.hasCounter)
    #expect(suite.challengeFormat == .hexadecimal)
    #expect(suite.maximumChallengeLength == 40)
    #expect(suite.pinHash == .sha256)
    #expect(suite.sessionByteCount == 128)
    #expect(suite.timeStep == 172_800)
    let least = try OCRASuite("OCRA-1:HOTP-SHA1-0:QA04")
    #expect(least.digits == 0)
    #expect(!least.hasCounter)
    #expect(least.pinHash == nil && least.sessionByteCount == nil && least.timeStep == nil)
  }

  @Test("omitted values have the standard's defaults")
  func defaults() throws {
    let suite = try OCRASuite("OCRA-1:HOTP-SHA1-6:Q-P-S-T")
    #expect(suite.challengeFormat == .numeric)
    #expect(suite.maximumChallengeLength == 8)
    #expect(suite.pinHash == .sha1)
    #expect(suite.sessionByteCount == 64)
    #expect(suite.timeStep == 60)
  }

  @Test("lower case is accepted, and the text is kept as written")
  func smallLetters() throws {
    let suite = try OCRASuite("ocra-1:hotp-sha256-8:c-qn08-psha1")
    #expect(suite.description == "ocra-1:hotp-sha256-8:c-qn08-psha1")
    #expect(suite.hasCounter)
    #expect(suite.pinHash == .sha1)
  }

  @Test(
    "an invalid suite is refused",
    arguments: [
      "", ":", "::", "OCRA-1", "OCRA-1:HOTP-SHA1-6", "OCRA-2:HOTP-SHA1-6:QN08", "OCRA-1:TOTP-SHA1-6:QN08",
      "OCRA-1:HOTP-MD5-6:QN08", "OCRA-1:HOTP-SHA1-3:QN08", "OCRA-1:HOTP-SHA1-11:QN08",
      "OCRA-1:HOTP-SHA1-06:QN08",
      "OCRA-1:HOTP-SHA1-:QN08", "OCRA-1:HOTP-SHA1:QN08", "OCRA-1:HOTP-SHA1-6:", "OCRA-1:HOTP-SHA1-6:C",
      "OCRA-1:HOTP-SHA1-6:QX08", "OCRA-1:HOTP-SHA1-6:QN03", "OCRA-1:HOTP-SHA1-6:QN65",
      "OCRA-1:HOTP-SHA1-6:QN8",
      "OCRA-1:HOTP-SHA1-6:QN008", "OCRA-1:HOTP-SHA1-6:QN+8", "OCRA-1:HOTP-SHA1-6:QN08-C",
      "OCRA-1:HOTP-SHA1-6:QN08-QN08", "OCRA-1:HOTP-SHA1-6:QN08-PMD5", "OCRA-1:HOTP-SHA1-6:QN08-S000",
      "OCRA-1:HOTP-SHA1-6:QN08-S513", "OCRA-1:HOTP-SHA1-6:QN08-S64", "OCRA-1:HOTP-SHA1-6:QN08-T0S",
      "OCRA-1:HOTP-SHA1-6:QN08-T60S", "OCRA-1:HOTP-SHA1-6:QN08-T60M", "OCRA-1:HOTP-SHA1-6:QN08-T49H",
      "OCRA-1:HOTP-SHA1-6:QN08-T0H", "OCRA-1:HOTP-SHA1-6:QN08-T1D", "OCRA-1:HOTP-SHA1-6:QN08-TM",
      "OCRA-1:HOTP-SHA1-6:QN08-T1M-S064", "OCRA-1:HOTP-SHA1-6:QN08-T1M-X", "OCRA-1:HOTP-SHA1-6:QN08-",
      "OCRA-1:HOTP-SHA1-6:QN08:", " OCRA-1:HOTP-SHA1-6:QN08", "OCRA-1:HOTP-SHA1-6:QN08\n",
      "OCRA-1:HOTP-SHA1-6:QN０8",
      "OCRA-1:HOTP-SHA1-6:QN08" + String(repeating: "-", count: 64),
    ])
  func refused(text: String) {
    do {
      let suite = try OCRASuite(text)
      Issue.record("\(suite) was read")
    } catch .malformedSuite(let reason) {
      #expect(!reason.isEmpty)
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test(
    "a challenge of the wrong form or length is refused",
    arguments: [
      ("QN08", "", false), ("QN08", "12a", false), ("QN08", "１", false), ("QN08", "+1", false),
      ("QH08", "xyz", false), ("QA08", "a b", false), ("QA08", "é", false), ("QN08", "123456789", true),
      ("QA04", "ABCDE", true), ("QH64", String(repeating: "a", count: 65), true),
    ])
  func challenges(format: String, text: String, isTooLong: Bool) throws {
    let suite = try OCRASuite("OCRA-1:HOTP-SHA1-6:\(format)")
    let failure: OCRAFailure =
      isTooLong
      ? .challengeTooLong(length: text.count, limit: suite.maximumChallengeLength)
      : .challengeFormat(suite.challengeFormat)
    #expect(throws: failure) { try OCRAChallenge(text, for: suite) }
  }

  @Test("random challenges have the full length and every character", arguments: ["QN64", "QA64", "QH64"])
  func random(format: String) throws {
    let suite = try OCRASuite("OCRA-1:HOTP-SHA1-6:\(format)")
    var seen: Set<Character> = []
    for _ in 0..<100 {
      let challenge = OCRAChallenge.random(for: suite)
      #expect(challenge.text.count == 64)
      #expect(try OCRAChallenge(challenge.text, for: suite) == challenge)
      seen.formUnion(challenge.text)
    }
    // 6,400 draws miss one of at most 36 characters once in 10^77 runs.
    #expect(
      seen.count == (suite.challengeFormat == .numeric ? 10 : suite.challengeFormat == .hexadecimal ? 16 : 36)
    )
  }
}

@Suite("Challenges from the fields of a signature")
struct OCRASigningTests {
  private func challenge(_ fields: [String], _ suite: String) throws -> String {
    try OCRAChallenge(signing: fields, for: OCRASuite(suite)).text
  }

  @Test("fields that fit are the challenge itself")
  func plain() throws {
    #expect(try challenge(["12345678", "100"], "OCRA-1:HOTP-SHA256-8:QN64") == "12345678100")
    #expect(try challenge(["DE02", "Alice9"], "OCRA-1:HOTP-SHA256-8:QA64") == "DE02Alice9")
    #expect(try challenge(["ab", "C"], "OCRA-1:HOTP-SHA256-8:QH40") == "abC")
  }

  /// Digests by `printf … | sha1sum`, and as numbers by `bc`.
  @Test("fields that do not fit become a digest truncated to the suite's length")
  func digests() throws {
    let fields = ["Pay 10.00 EUR", " to Zoë"]
    let digest = HashFunction.sha1.digest(of: Array("Pay 10.00 EUR to Zoë".utf8))
    let hex = Hex.encode(digest).uppercased()
    #expect(try challenge(fields, "OCRA-1:HOTP-SHA1-6:QA40") == hex)
    #expect(try challenge(fields, "OCRA-1:HOTP-SHA1-6:QH10") == hex.suffix(10))
    #expect(try challenge(["123456789"], "OCRA-1:HOTP-SHA1-6:QN08") == "68251713")
    #expect(try challenge(["x"], "OCRA-1:HOTP-SHA256-8:QN64").count == 64)
    #expect(try challenge(["a"], "OCRA-1:HOTP-SHA256-8:QN10").utf8.allSatisfy { 0x30...0x39 ~= $0 })
  }

  @Test("empty fields are refused")
  func empty() {
    for fields in [[], [""], ["", ""]] {
      #expect(throws: OCRAFailure.challengeFormat(.numeric)) {
        try challenge(fields, "OCRA-1:HOTP-SHA1-6:QN08")
      }
    }
  }
}
