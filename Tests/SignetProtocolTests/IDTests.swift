import SignetCrypto
import SignetProtocol
import Testing

@Suite("Server-generated identifiers")
struct IDTests {
  /// A source of equal bytes.
  private struct Repeating: RandomSource {
    let byte: UInt8
    func bytes(_ count: Int) -> [UInt8] { Array(repeating: byte, count: count) }
  }

  @Test("none begins with -, which a command line would read as an option", arguments: UInt8.min...UInt8.max)
  func firstCharacter(_ byte: UInt8) {
    let text = TransactionID(random: Repeating(byte: byte)).text
    #expect(text.utf8.count == 22)
    #expect(text.first?.isLetter == true)
  }

  @Test(
    "an id of 1 to 64 allowed characters is accepted",
    arguments: ["a", "Az09_-", String(repeating: "x", count: 64)])
  func accepted(_ text: String) throws {
    #expect(try ContainerID(text).text == text)
    #expect("\(try ContainerID(text))" == text)
  }

  @Test("ids are compared by their bytes, as databases compare them")
  func equality() throws {
    // As Swift strings the texts are equal: a Kelvin sign and a K, and one letter in two forms.
    let (kelvin, letter) = (ContainerID(unchecked: "\u{212A}"), try ContainerID("K"))
    #expect(kelvin.text == letter.text && kelvin != letter)
    #expect(Set([kelvin, letter]).count == 2)
    let (apart, composed) = (UserID(unchecked: "e\u{301}"), try UserID("\u{E9}"))
    #expect(apart.text == composed.text && apart != composed)
    #expect(Set([apart, composed]).count == 2)
  }

  @Test(
    "an id of another form is refused",
    arguments: ["", "a b", "a/b", "ä", "a\0", "..", String(repeating: "x", count: 65)])
  func refused(_ text: String) {
    #expect(
      throws: WireFailure.invalid(member: "id", reason: "must have 1 to 64 characters from A-Z a-z 0-9 _ -")
    ) {
      try ContainerID(text)
    }
  }
}
