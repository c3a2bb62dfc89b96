import SignetSystem
import Testing

@Suite("Untrusted text") struct SanitisingTests {
  @Test(
    "is shown with visible replacements",
    arguments: [
      ("plain text 123 ~!", "plain text 123 ~!"), ("", ""), ("Zoë Ελληνικά 日本語", "Zoë Ελληνικά 日本語"),
      ("\u{1B}[31mred\u{1B}[0m", "␛[31mred␛[0m"), ("a\u{0}b", "a␀b"), ("a\r\nb\tc", "a␍␊b␉c"),
      ("bell\u{7} back\u{8} del\u{7F}", "bell␇ back␈ del␡"), ("\u{9B}31m", "\\u{9B}31m"),
      ("\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}", "\\u{202A}\\u{202B}\\u{202C}\\u{202D}\\u{202E}"),
      ("\u{2066}\u{2067}\u{2068}\u{2069}", "\\u{2066}\\u{2067}\\u{2068}\\u{2069}"),
      ("\u{200E}\u{200F}\u{61C}", "\\u{200E}\\u{200F}\\u{61C}"),
      (
        "pay\u{200B}pal\u{200C}\u{200D}\u{FEFF}\u{2060}",
        "pay\\u{200B}pal\\u{200C}\\u{200D}\\u{FEFF}\\u{2060}"
      ),
      ("soft\u{AD}hyphen", "soft\\u{AD}hyphen"), ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
      ("\u{E0041}\u{E0001}", "\\u{E0041}\\u{E0001}"), ("\u{3164}\u{115F}", "\\u{3164}\\u{115F}"),
      ("\u{E000}\u{F8FF}", "\\u{E000}\\u{F8FF}"), ("\u{FFFE}", "\\u{FFFE}"), ("\u{180E}", "\\u{180E}"),
      ("❤\u{FE0F}", "❤\u{FE0F}"), ("a\u{FE0F}", "a\\u{FE0F}"), ("\u{FE0F}", "\\u{FE0F}"),
      ("e\u{301}", "e\u{301}"), ("a\u{A0}b", "a␣{A0}b"), ("\u{3000}\u{3000}", "␣{3000×2}"),
      ("\u{2800}x\u{2003}", "␣{2800}x␣{2003}"), ("1                2", "1                2"),
      ("1                 2", "1␣{20×17}2"), ("\u{301}", "\\u{301}"), (" \u{301}", " \\u{301}"),
      ("e" + String(repeating: "\u{301}", count: 2000), "e\u{301}\u{301}\u{301}\u{301}\\u{301×1996}"),
      ("e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}x", "e\u{301}\u{302}\u{303}\u{304}\\u{305}\\u{306}x"),
      ("\u{1B}\u{301}", "␛\\u{301}"), ("👩\u{200D}👧", "👩\\u{200D}👧"),
    ])
  func table(_ text: String, _ expected: String) {
    let sanitised = TerminalText.sanitised(text)
    #expect(Array(sanitised.unicodeScalars) == Array(expected.unicodeScalars))
    #expect(TerminalText.sanitised(sanitised) == sanitised)
  }

  @Test("has no control, format or separator character left")
  func everyScalar() {
    for value in 0...0x10FFFF {
      guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        let text = TerminalText.sanitised(String(Character(scalar)))
        #expect(!text.unicodeScalars.contains(scalar), "\(String(value, radix: 16))")
      default: continue
      }
    }
  }

  @Test(
    "is cut at a limit",
    arguments: [
      ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("ab", 0, "…"), ("", 0, ""),
      ("\u{1B}\u{1B}\u{1B}", 2, "␛…"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
    ])
  func limits(_ text: String, _ limit: Int, _ expected: String) {
    #expect(TerminalText.sanitised(text, limit: limit) == expected)
  }

  @Test("of two megabytes is cut at its limit, or said by its count")
  func flood() {
    let marks = "a" + String(repeating: "\u{301}", count: 1_000_000)
    #expect(TerminalText.sanitised(marks, limit: 10).unicodeScalars.count < 1000)
    #expect(TerminalText.sanitised(String(repeating: "\u{202E}", count: 1_000_000), limit: 10).count == 10)
    #expect(TerminalText.sanitised(String(repeating: "\u{A0}", count: 1_000_000)) == "␣{A0×1000000}")
  }
}

@Suite struct MarkupTextTests {
  @Test(arguments: [
    ("", ""), ("a é 漢", "a é 漢"), ("<b>", "&lt;b&gt;"), ("&amp;", "&amp;amp;"), ("\"'", "&quot;&#39;"),
    ("\u{0301}<", "\u{0301}&lt;"), ("<\u{0338}", "&lt;\u{0338}"),
  ])
  func escapes(_ text: String, _ escaped: String) { #expect(MarkupText.escaped(text) == escaped) }
}
