import SignetTerminal
import Testing

@Suite("Text of others") struct SanitisingTests {
  @Test(
    "is made visible",
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
      ("e\u{301}", "e\u{301}"), ("👩\u{200D}👧", "👩\\u{200D}👧"),
    ])
  func table(_ text: String, _ expected: String) {
    let sanitised = TerminalText.sanitised(text)
    #expect(Array(sanitised.unicodeScalars) == Array(expected.unicodeScalars))
    #expect(TerminalText.sanitised(sanitised) == sanitised)
  }

  @Test("has no control, format or separator character left, whatever it was")
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

  @Test("of a megabyte takes no longer than its limit")
  func flood() {
    let marks = "a" + String(repeating: "\u{301}", count: 1_000_000)
    #expect(TerminalText.sanitised(marks, limit: 10).unicodeScalars.count < 1000)
    #expect(TerminalText.sanitised(String(repeating: "\u{202E}", count: 1_000_000), limit: 10).count == 10)
  }
}

@Suite("Layout") struct LayoutTests {
  @Test(
    "columns of text",
    arguments: [
      ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한", 2), ("ｱ", 1), ("Ａ", 2), ("👍", 2),
      ("❤\u{FE0F}", 2), ("…", 1), ("█", 1),
    ])
  func width(_ text: String, _ columns: Int) {
    #expect(TerminalText.width(text) == columns)
  }

  @Test("wrapping")
  func wrapping() {
    #expect(TerminalText.wrapped("aaa bbb ccc", width: 7) == ["aaa bbb", "ccc"])
    #expect(TerminalText.wrapped("aaa\nbbb  ccc", width: 80) == ["aaa bbb ccc"])
    #expect(TerminalText.wrapped("one\n\ntwo", width: 80) == ["one", "", "two"])
    #expect(TerminalText.wrapped("a verylongword b", width: 4) == ["a", "verylongword", "b"])
    #expect(TerminalText.wrapped("日本 語文", width: 5) == ["日本", "語文"])
    #expect(TerminalText.wrapped("", width: 5) == [])
  }

  @Test("a table aligns wide characters and numbers, and sanitises")
  func table() {
    var table = TextTable(["NAME", .init("COUNT", .right), "STATE"])
    #expect(table.isEmpty)
    table.append(["alice", "7", "open"])
    table.append(["日本", "1234567", ""])
    table.append(["\u{1B}[2J", "0", "locked"])
    #expect(
      table.text == """
        NAME     COUNT  STATE
        alice        7  open
        日本   1234567
        ␛[2J         0  locked

        """)
  }

  @Test("progress on a terminal is one line, elsewhere a line for each message")
  func progress() {
    let seen = Collector()
    let line = ProgressLine(on: seen.terminal(width: 40, isTerminal: true))
    line.update(0.5, "Halfway\u{1B}")
    line.update(nil, "Unknown")
    line.update(7, "A message that is much too long for the window")
    line.finish("Done")
    #expect(
      seen.text == "\r██████████░░░░░░░░░░  50% Halfway␛\u{1B}[K\rUnknown\u{1B}[K"
        + "\r████████████████████ 100% A message that\u{1B}[K".replacing(" that", with: " tha")
        + "\r\u{1B}[KDone\n")

    let logged = Collector()
    let plain = ProgressLine(on: logged.terminal())
    for fraction in [0, 0.25, 0.5] { plain.update(fraction, "Copying") }
    plain.update(.nan, "Checking")
    plain.finish()
    #expect(logged.text == "Copying\nChecking\n")
  }

  @Test("50 tasks report progress at once, and every line is whole")
  func progressFromTasks() async {
    let seen = Collector()
    let line = ProgressLine(on: seen.terminal())
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<50 { group.addTask { line.update(0.5, "task \(index)") } }
    }
    #expect(Set(seen.text.split(separator: "\n")).count == 50)
  }
}
