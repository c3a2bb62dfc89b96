import SignetSystem
import Testing

@Suite("Bytes of texts")
struct StringBytesTests {
  @Test(
    "texts are the same if their bytes are",
    arguments: [
      ("", "", true), ("K", "K", true), ("K", "\u{212A}", false), ("\u{E9}", "e\u{301}", false),
      ("a\u{301}\u{323}", "a\u{323}\u{301}", false), ("abc", "abd", false), ("abc", "ab", false),
      ("a text of more than fifteen bytes", "a text of more than fifteen bytes", true),
    ])
  func same(_ text: String, _ other: String, _ isSame: Bool) {
    #expect(text.hasSameBytes(as: other) == isSame)
    // A part of a text is stored in another way.
    let part = String("-\(other)-".dropFirst().dropLast())
    #expect(text.hasSameBytes(as: part) == isSame)
  }

  @Test("a predicate is asked for every byte, of characters of several bytes too")
  func predicate() {
    #expect("".allBytesSatisfy { _ in false })
    #expect("abc".allBytesSatisfy { $0 >= 0x61 })
    #expect(!"ab\u{E9}".allBytesSatisfy { $0 < 0x80 })
    #expect(!"a text of more than fifteen bytes!".allBytesSatisfy { $0 != 0x21 })
  }

  @Test(
    "parts are split at every separator, and empty ones are kept",
    arguments: [
      ("", [""]), ("/", ["", ""]), ("a", ["a"]), ("a/b", ["a", "b"]), ("//a/", ["", "", "a", ""]),
      ("\u{E9}/\u{20AC}\u{301}/x", ["\u{E9}", "\u{20AC}\u{301}", "x"]),
    ])
  func parts(_ text: String, _ parts: [String]) {
    #expect(text.parts(separatedBy: UInt8(ascii: "/")) == parts)
  }
}
