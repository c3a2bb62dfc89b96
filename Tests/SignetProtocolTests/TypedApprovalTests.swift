import SignetCrypto
import SignetJSON
import SignetProtocol
import Testing

/// Input typed into a device that does not receive the transaction (`docs/protocol.md` section 5.10).
@Suite struct TypedApprovalTests {
  @Test("challenge and digits match the documented vectors", arguments: try ProtocolVector.load())
  func vectors(_ vector: ProtocolVector) throws {
    let transaction = try OfflineTransaction(
      verifying: vector.text("offline"), signedBy: vector.signingKey("serverSigningPrivateKey").publicKey)
    let decision = try #require(
      Decision(verifying: vector.text("decision"), signedBy: vector.signingKey("signingPrivateKey").publicKey)
    )
    let secret = try vector.secret("otpSecret")
    let challenge = try vector.text("typedChallenge")
    let asked = try TypedApproval(of: transaction, fields: [])
    let typed = try TypedApproval(challenge: challenge)
    #expect(asked == typed && asked.challenge == challenge && asked.values.isEmpty)
    let answer = asked.answer(otpSecret: secret, container: decision.container)
    #expect(try answer == vector.text("typedAnswer"))
    #expect(answer != transaction.answer(otpSecret: secret, container: decision.container))
    #expect(try answer != asked.answer(otpSecret: secret, container: ContainerID("other")))
    let valued = try TypedApproval(
      challenge: challenge, values: ["250.00 eur", "de02 1203 0000 0000 2020 51"])
    #expect(try valued.values.map(\.description) == vector.texts("typedValues"))
    #expect(
      try valued.answer(otpSecret: secret, container: decision.container) == vector.text("typedValuesAnswer"))
  }

  @Test("the signature covers each value, its end and the order")
  func eachValueCounts() throws {
    let secret = SecretBytes(copying: [UInt8](repeating: 7, count: 32))
    let container = try ContainerID("c1")
    let lists = [[], ["12", "3"], ["1", "23"], ["123"], ["3", "12"], ["12", "3", "3"], ["12"]]
    var answers: Set<String> = []
    for list in lists {
      let approval = try TypedApproval(challenge: "01234567", values: list)
      answers.insert(approval.answer(otpSecret: secret, container: container))
    }
    let other = try TypedApproval(challenge: "01234568", values: lists[1])
    answers.insert(other.answer(otpSecret: secret, container: container))
    #expect(answers.count == lists.count + 1)
  }

  @Test(
    "spaces, letter case and trailing zeros of amounts are ignored",
    arguments: [
      ("250.00 EUR", "250EUR"), ("250,0eur", "250EUR"), (" 2 50 Eur ", "250EUR"), ("0.50 CHF", "0.5CHF"),
      ("1\u{202F}250.75\u{A0}EUR", "1250.75EUR"), ("2500", "2500"), ("25.00", "25"), ("25.05", "25.05"),
      ("1.2550 KWD", "1.255KWD"), ("00250", "00250"), ("100", "100"), ("250 JPY", "250JPY"),
      ("2026-11-21", "2026-11-21"), ("192.0.2.10", "192.0.2.10"), ("a.10", "A.10"), ("1.10 EURO", "1.10EURO"),
      ("7.", "7."), (".50", ".50"), ("#42/a", "#42/A"),
      (String(repeating: "x ", count: 64), String(repeating: "X", count: 64)),
    ])
  func normalForm(_ typed: String, _ expected: String) throws {
    let value = try TypedValue(typed)
    #expect(value.description == expected)
    // The signed form can be typed too, except for three decimal places.
    if expected != "1.255KWD" { #expect(try TypedValue(expected) == value) }
  }

  @Test(
    "values that are too long, empty, untypable or ambiguous have different errors",
    arguments: [
      ("", TypedValue.Failure.characters), ("  ", .characters), ("250 €", .characters), ("Zoë", .characters),
      ("a\nb", .characters), ("a\tb", .characters), ("\u{7F}", .characters), ("a\u{301}", .characters),
      ("1.250", .separators), ("1,250 EUR", .separators), ("1.250,00 EUR", .separators),
      ("1,250.00", .separators), (String(repeating: "1", count: 65), .tooLong(length: 65, limit: 64)),
    ])
  func refusedValues(_ typed: String, _ failure: TypedValue.Failure) {
    #expect(throws: failure) { try TypedValue(typed) }
    #expect(throws: TypedApprovalFailure.value(number: 2, failure)) {
      try TypedApproval(challenge: "12345678", values: ["1", typed])
    }
  }

  @Test("a challenge has eight digits, and there are eight values at most")
  func refusedChallenges() throws {
    #expect(try TypedApproval(challenge: " 1234 5678 ").challenge == "12345678")
    for bad in ["", " ", "1234567", "1234567a", "١٢٣٤٥٦٧٨", "12345678\n", "1234-5678"] {
      #expect(throws: TypedApprovalFailure.challengeFormat, "\(bad)") { try TypedApproval(challenge: bad) }
    }
    #expect(throws: TypedApprovalFailure.challengeTooLong(length: 9, limit: 8)) {
      try TypedApproval(challenge: "123456789")
    }
    let nine = [String](repeating: "1", count: 9)
    #expect(try TypedApproval(challenge: "12345678", values: nine.dropLast()).values.count == 8)
    #expect(throws: TypedApprovalFailure.tooManyValues(count: 9, limit: 8)) {
      try TypedApproval(challenge: "12345678", values: nine)
    }
    let failures: [TypedApprovalFailure] = [
      .challengeFormat, .challengeTooLong(length: 9, limit: 8), .tooManyValues(count: 9, limit: 8),
      .value(number: 1, .characters), .value(number: 1, .separators),
      .value(number: 1, .tooLong(length: 65, limit: 64)),
    ]
    #expect(Set(failures.map(\.description)).count == failures.count)
  }

  @Test("each kind of field has its input form; untypable fields are refused")
  func fields() throws {
    let form = TransactionContent.Body.form(
      try TransactionForm(
        template: "payment",
        fields: [
          TransactionField(.amount(MoneyAmount("250.00", currency: "EUR"))),
          TransactionField(.payee(name: "Jane", account: "DE02 1203")),
          TransactionField(.payee(name: "Jane Doe", account: nil)),
          TransactionField(.date(CalendarDay("2026-11-21"))), TransactionField(.text("inv. 7"), label: "For"),
          TransactionField(.group([.init("a", "b")]), label: "More"),
          TransactionField(.payee(name: "Zoë", account: nil)),
          TransactionField(.amount(MoneyAmount("1.255", currency: "KWD"))),
          TransactionField(.amount(MoneyAmount("0", currency: "JPY"))),
          TransactionField(.text("1.255"), label: "Version"),
        ]))
    let values = try TypedApproval.values(of: form, at: [0, 1, 2, 3, 4, 7, 8])
    #expect(
      values.map(\.description) == [
        "250EUR", "DE021203", "JANEDOE", "2026-11-21", "INV.7", "1.255KWD", "0JPY",
      ])
    #expect(try TypedValue("1.2550 kwd") == values[5])
    for bad in [[5], [6], [9], [10], [-1], [0, 0], [1, 0], Array(0...8)] {
      #expect(throws: WireFailure.self, "\(bad)") { try TypedApproval.values(of: form, at: bad) }
    }
    #expect(try TypedApproval.values(of: .text("x"), at: []).isEmpty)
    #expect(throws: WireFailure.self) { try TypedApproval.values(of: .text("x"), at: [0]) }
  }
}
