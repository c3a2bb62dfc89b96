import SignetProtocol
import Testing

@Suite("Display texts")
struct DisplayTextTests {
  @Test(
    "hidden, blank, reordering and control characters are refused",
    arguments: [
      "\u{00}", "\u{09}", "\u{0D}", "\u{1B}", "\u{7F}", "\u{85}", "\u{AD}", "\u{34F}", "\u{61C}", "\u{115F}",
      "\u{1160}", "\u{180E}", "\u{200B}", "\u{200C}", "\u{200D}", "\u{200E}", "\u{2028}", "\u{2029}",
      "\u{202E}",
      "\u{2060}", "\u{2066}", "\u{2069}", "\u{2800}", "\u{3164}", "\u{FE0F}", "\u{FEFF}", "\u{FFA0}",
      "\u{FFF9}",
      "\u{FFFF}", "\u{E0041}", "\u{E0100}",
    ])
  func refused(_ character: String) {
    #expect(throws: WireFailure.self) { try DisplayText.check("Pay 1\(character)00 EUR") }
  }

  @Test(
    "ordinary texts are accepted",
    arguments: [
      "Pay 250.00 EUR to Jane Doe\nfor the garden", "Überweisung an Müller", "送金 ¥1,000", "שלם 5 ₪", "👍",
    ])
  func taken(_ text: String) throws { try DisplayText.check(text) }

  @Test("a text has 1 to 4,096 bytes")
  func length() throws {
    try DisplayText.check(String(repeating: "a", count: 4096))
    #expect(throws: WireFailure.self) { try DisplayText.check("") }
    #expect(throws: WireFailure.self) { try DisplayText.check(String(repeating: "a", count: 4097)) }
    #expect(throws: WireFailure.self) { try DisplayText.check(String(repeating: "ä", count: 2049)) }
  }

  @Test("a list of the most and longest transactions is read")
  func longestList() throws {
    // JSON writes each of these as two bytes, and escapes the content's quotes and backslashes again.
    let frame = try TransactionContent(.text("x"), from: .relyingParty("B")).json.utf8.count - 1
    let text = String(repeating: "\n", count: (TransactionContent.maximumByteCount - frame) / 2)
    let list = TransactionList(
      try (0..<64).map {
        TransactionRequest(
          id: try TransactionID("transaction-\($0)"),
          content: try TransactionContent(.text(text), from: .relyingParty("B")), created: 0, expires: 1)
      })
    #expect(try TransactionList(parsing: list.bytes) == list)
  }
}

@Suite("Invisible and ambiguous characters")
struct HiddenTextTests {
  @Test(
    "invisible characters are refused in texts and user ids",
    arguments: [
      "\u{AD}", "\u{34F}", "\u{115F}", "\u{1160}", "\u{17B4}", "\u{17B5}", "\u{180B}", "\u{180E}", "\u{200D}",
      "\u{206A}", "\u{206F}", "\u{2800}", "\u{3164}", "\u{FE00}", "\u{FE0F}", "\u{FFA0}", "\u{FFF0}",
      "\u{1BCA0}", "\u{1D173}", "\u{E0100}",
    ])
  func invisible(_ character: String) {
    #expect(throws: WireFailure.self) { try DisplayText.check("Pay 1\(character)00 EUR") }
    #expect(throws: WireFailure.self) { try UserID("al\(character)ice") }
  }

  @Test("a user id has one spelling: text not in Unicode Normalization Form C is refused")
  func oneSpelling() throws {
    #expect(try UserID("Jos\u{E9}").text.unicodeScalars.count == 4)
    #expect(throws: WireFailure.self) { try UserID("Jose\u{301}") }
    #expect(throws: WireFailure.self) { try UserID("\u{212A}ate") }  // the Kelvin sign, which is equal to K
    #expect(try UserID("\u{AC00}\u{4E2D}\u{0439}").text.unicodeScalars.count == 3)
  }
}
