import SignetCrypto
import SignetInterchange
import SignetOATH
import Testing

/// OCRA keys and HOTP keys with a check digit in PSKC documents, and their handling in other formats.
@Suite("PSKC: OCRA and check digits") struct PSKCChallengeTests {
  /// A document with one key, with these parameters and these values next to the secret.
  static func document(_ kind: String, _ parameters: String, _ values: String = "") -> String {
    """
    <KeyContainer Version="1.0" xmlns="urn:ietf:params:xml:ns:keyprov:pskc"><KeyPackage>
      <DeviceInfo><Manufacturer>Maker</Manufacturer><SerialNo>SN1</SerialNo></DeviceInfo>
      <Key Id="k1" Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:\(kind)">
        <AlgorithmParameters>\(parameters)</AlgorithmParameters>
        <Data><Secret><PlainValue>MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=</PlainValue></Secret>\(values)</Data>
      </Key></KeyPackage></KeyContainer>
    """
  }

  private func imported(
    _ kind: String, _ parameters: String, _ values: String = ""
  ) throws -> ImportedAccounts {
    try AccountFile.read(Array(Self.document(kind, parameters, values).utf8))
  }

  private static let suite = "<Suite>OCRA-1:HOTP-SHA1-6:C-QN08-PSHA1</Suite>"
  private static let timed = "<Suite>OCRA-1:HOTP-SHA1-6:QN08-T1M</Suite>"

  @Test("suite, counter and lengths of challenges are read")
  func read() throws {
    let parsed = try OCRASuite("OCRA-1:HOTP-SHA1-6:C-QN08-PSHA1")
    let plain = try #require(
      try imported("ocra", Self.suite, "<Counter><PlainValue>5</PlainValue></Counter>").accounts.first)
    #expect(plain.kind == .ocra(parsed, counter: 5))
    #expect(plain.description == "Maker (SN1)" && plain.digits == 6 && plain.algorithm == .sha1)
    #expect(!plain.foreign.map(\.name).contains("Suite"))
    let full = try imported(
      "OCRA",
      Self.suite + "<ChallengeFormat Encoding=\"DECIMAL\" Min=\"4\" Max=\"12\" CheckDigits=\"false\"/>"
        + "<ResponseFormat Length=\"6\" Encoding=\"DECIMAL\"/>")
    #expect(full.accounts.map(\.kind) == [.ocra(parsed, lengths: 4...8)])
    let least = try imported("ocra", Self.suite + "<ChallengeFormat Encoding=\"DECIMAL\" Min=\"3\"/>")
    #expect(least.accounts.map(\.kind) == [.ocra(parsed, lengths: 3...8)])
    // A counter that the suite does not use is ignored.
    let free = try imported("ocra", Self.timed, "<Counter><PlainValue>5</PlainValue></Counter>")
    #expect(free.accounts.map(\.kind) == [.ocra(try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08-T1M"))])
  }

  @Test(
    "invalid and contradictory suites are refused with the reason",
    arguments: [
      ("", "", "the suite is missing"),
      ("<Suite>HMAC-SHA1</Suite>", "", "this is not an OCRA suite"),
      ("<Suite>OCRA-1:HOTP-MD5-6:QN08</Suite>", "", "hash function"),
      (suite + "<ResponseFormat Length=\"8\" Encoding=\"DECIMAL\"/>", "", "another length than its suite"),
      (suite + "<ResponseFormat Length=\"6\" Encoding=\"HEXADECIMAL\"/>", "", "not written in decimal"),
      (
        suite + "<ResponseFormat Length=\"6\" Encoding=\"DECIMAL\" CheckDigits=\"true\"/>", "",
        "by a counter only"
      ),
      (suite + "<ChallengeFormat Encoding=\"ALPHANUMERIC\" Min=\"4\" Max=\"8\"/>", "", "in another way"),
      (suite + "<ChallengeFormat Encoding=\"DECIMAL\" Min=\"9\" Max=\"12\"/>", "", "does not allow"),
      (
        suite + "<ChallengeFormat Encoding=\"DECIMAL\" Min=\"4\" Max=\"8\" CheckDigits=\"1\"/>", "",
        "has a check digit"
      ),
      (timed, "<TimeInterval><PlainValue>30</PlainValue></TimeInterval>", "another than its suite says"),
    ])
  func refused(parameters: String, values: String, words: String) throws {
    let found = try imported("ocra", parameters, values)
    #expect(found.accounts.isEmpty && found.skipped.map(\.title) == ["SN1"])
    #expect(found.skipped.first?.reason.description.contains(words) == true, "\(found.skipped)")
  }

  @Test("a check digit is added to the codes of event-based keys only")
  func checkDigit() throws {
    let format = "<ResponseFormat Length=\"6\" Encoding=\"DECIMAL\" CheckDigits=\"true\"/>"
    let account = try #require(try imported("hotp", format).accounts.first)
    #expect(account.hasCheckDigit && account.digits == 6)
    // RFC 4226 appendix D, with the Luhn digit.
    #expect(try (0..<3).map { try account.hotp().code(at: $0) } == ["7552243", "2870822", "3591526"])
    #expect(!account.makesSameCodes(as: try SampleAccounts.account("A", "a", .hotp(counter: 0))))
    let timed = try imported("totp", format)
    #expect(
      timed.skipped.map(\.reason) == [
        .invalid("check digit", reason: "is allowed for codes by a counter only")
      ])
  }

  @Test("OCRA keys survive a round trip, plain and encrypted", arguments: [nil, "correct horse"])
  func roundTrip(password: String?) throws {
    let accounts = try SampleAccounts.onlyPSKC()
    let written = try AccountFile.write(accounts, as: .pskc, password: password.map(SampleAccounts.box))
    #expect(written.count == accounts.count)
    let again = try AccountFile.read(
      written.contents.withSecret { $0.insecureCopy() }, password: password.map(SampleAccounts.box))
    #expect(again.skipped.isEmpty && again.accounts.map(\.kind) == accounts.map(\.kind))
    #expect(again.accounts.facts == accounts.facts)
    for (one, other) in zip(again.accounts, accounts) { #expect(one.makesSameCodes(as: other)) }
  }

  @Test(
    "every other format skips them by name",
    arguments: InterchangeFormat.allCases.filter { $0 != .pskc && $0 != .raivo })
  func leftOut(format: InterchangeFormat) throws {
    let accounts = try SampleAccounts.onlyPSKC() + [try SampleAccounts.account()]
    let written = try AccountFile.write(accounts, as: format)
    #expect(written.count == 1)
    #expect(written.skipped.map(\.title) == ["Bank (one)", "Bank (two)", "Bank (three)", "Card (four)"])
    #expect(
      written.skipped.map(\.reason)
        == Array(repeating: .notRepresentable(format, reason: "answers to challenges (OCRA)"), count: 3)
        + [.notRepresentable(format, reason: "a check digit")])
  }

  @Test("an account that contradicts its suite is refused; counter and lengths do not distinguish accounts")
  func accounts() throws {
    let suite = try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08")
    #expect(throws: InterchangeFailure.invalid("counter", reason: "is not used by the suite")) {
      try SampleAccounts.account("A", "a", .ocra(suite, counter: 1))
    }
    for lengths in [0...4, 4...9] {
      #expect(throws: InterchangeFailure.self) {
        try SampleAccounts.account("A", "a", .ocra(suite, lengths: lengths))
      }
    }
    let counted = try OCRASuite("OCRA-1:HOTP-SHA1-6:C-QN08")
    let one = try SampleAccounts.account("A", "a", .ocra(counted, counter: 1))
    #expect(one.makesSameCodes(as: try SampleAccounts.account("B", "b", .ocra(counted, lengths: 4...8))))
    #expect(!one.makesSameCodes(as: try SampleAccounts.account("A", "a", .ocra(suite))))
  }

  @Test("an invalid challenge is reported as too short or too long")
  func lengths() throws {
    let suite = try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08")
    #expect(try OCRAChallenge("123456", for: suite, lengths: 6...7).text == "123456")
    #expect(throws: OCRAFailure.challengeTooShort(length: 5, limit: 6)) {
      try OCRAChallenge("12345", for: suite, lengths: 6...7)
    }
    #expect(throws: OCRAFailure.challengeTooLong(length: 8, limit: 7)) {
      try OCRAChallenge("12345678", for: suite, lengths: 6...7)
    }
    #expect(throws: OCRAFailure.challengeFormat(.numeric)) {
      try OCRAChallenge("", for: suite, lengths: 6...7)
    }
  }
}
