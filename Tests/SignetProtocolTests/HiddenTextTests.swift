import SignetProtocol
import Testing

@Suite("Text that reads otherwise than it is")
struct HiddenTextTests {
  @Test(
    "characters that nobody sees are refused in texts and user ids",
    arguments: [
      "\u{AD}", "\u{34F}", "\u{115F}", "\u{1160}", "\u{17B4}", "\u{17B5}", "\u{180B}", "\u{180E}", "\u{200D}",
      "\u{206A}", "\u{206F}", "\u{2800}", "\u{3164}", "\u{FE00}", "\u{FE0F}", "\u{FFA0}", "\u{FFF0}",
      "\u{1BCA0}", "\u{1D173}", "\u{E0100}",
    ])
  func invisible(_ character: String) {
    #expect(throws: WireFailure.self) { try DisplayText.check("Pay 1\(character)00 EUR") }
    #expect(throws: WireFailure.self) { try UserID("al\(character)ice") }
  }

  @Test("a user id has one spelling: what is not in Unicode Normalization Form C is refused")
  func oneSpelling() throws {
    #expect(try UserID("Jos\u{E9}").text.unicodeScalars.count == 4)
    #expect(throws: WireFailure.self) { try UserID("Jose\u{301}") }
    #expect(throws: WireFailure.self) { try UserID("\u{212A}ate") }  // the Kelvin sign, which is equal to K
    #expect(try UserID("\u{AC00}\u{4E2D}\u{0439}").text.unicodeScalars.count == 3)
  }
}
