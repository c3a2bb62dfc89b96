import SignetSystem
import Testing

@Suite("Rows of a terminal") struct TerminalRowTests {
  /// Characters whose width differs between terminals: parts of syllables, conjuncts, spacing marks, new scripts, ambiguous ones,
  /// emoji.
  private static let doubtful = [
    String(repeating: "\u{1100}", count: 38), "\u{915}\u{94D}\u{937}\u{903}", "\u{17000}", "\u{1B000}",
    "\u{4DC0}", "\u{1100}\u{1161}\u{11A8}",
    "\u{A960}", "\u{D7B0}", "\u{AC00}", "\u{FDFD}", "\u{2E3B}", "é", "ü", "Ж", "ﷺ", "\u{1F1E9}\u{1F1EA}", "👍🏽",
    "❤\u{FE0F}", "❤", "\u{1F3FB}", "¶", "⓪",
    "\u{20000}", "\u{16FE4}", "\u{1F93B}", "\u{FE10}", "\u{E01}\u{E33}", "e\u{301}\u{302}",
  ]

  @Test(
    "begin with our own text and are never wider than the window", arguments: doubtful,
    [20, 40, 80])
  func rows(_ character: String, _ width: Int) {
    let hostile = [
      String(repeating: character, count: 200) + "from    My Own Bank AG",
      String(repeating: character + " ", count: 100) + "from    My Own Bank AG",
      "Pay 1" + String(repeating: " ", count: 500) + character + "from    My Own Bank AG\nfrom x",
    ]
    for text in hostile {
      let block = TerminalText.block(text, first: "  from    ", next: "  | ", width: width)
      let line = ("signet: \(text)" as TerminalText).shown(width: width, usesUTF8: true)
      let alone = ("\(text)" as TerminalText).shown(width: width, usesUTF8: true)
      for (index, row) in block.description.split(separator: "\n").enumerated() {
        #expect(
          row.utf8.starts(with: (index == 0 ? "  from    " : "  | ").utf8) && TerminalText.widest(row) < width
        )
      }
      for (index, row) in line.split(separator: "\n").enumerated() {
        #expect(
          row.utf8.starts(with: (index == 0 ? "signet: " : "  | ").utf8) && TerminalText.widest(row) < width)
      }
      for (index, row) in alone.split(separator: "\n").enumerated() {
        #expect(row.utf8.starts(with: (index == 0 ? "| " : "  | ").utf8) && TerminalText.widest(row) < width)
      }
    }
  }

  @Test("contain the whole text")
  func whole() {
    let text =
      "Überweise 250 € an die Bäckerei Müller & Söhne, " + String(repeating: "한", count: 90) + " Ende"
    for width in 20...90 {
      let block = TerminalText.block(text, first: "> ", next: "> ", width: width)
      #expect(block.description.split(separator: "\n").map { $0.dropFirst(2) }.joined() == text)
    }
  }

  @Test(
    "of a block show empty lines and lines of spaces",
    arguments: [
      (
        "Pay 9999" + String(repeating: "\n", count: 62) + "Pay 1",
        ["> Pay 9999", "  ~ 61 empty lines", "> Pay 1"]
      ),
      ("a\n\nb", ["> a", "  ~ 1 empty line", "> b"]), ("a\n   \nb", ["> a", "> ␣{20×3}", "> b"]),
      ("\na\n\n", ["  ~ 1 empty line", "> a", "  ~ 2 empty lines"]), ("", ["  ~ 1 empty line"]),
      ("  ~ 61 empty lines", [">   ~ 61 empty lines"]),
    ])
  func emptyLines(_ text: String, _ rows: [String]) {
    let block = TerminalText.block(text, first: "> ", next: "> ", width: 80)
    #expect(block.description.split(separator: "\n").map(String.init) == rows)
  }

  @Test(
    "of a block separate numbers from right-to-left text",
    arguments: [
      ("שלם 100 שקל", ["> שלם ", "> 100 ", "> שקל"]), ("שלם - 100", ["> שלם ", "> - 100"]),
      ("100 € שלם", ["> 100 € ", "> שלם"]), ("ב100 x", ["> \\u{5D1}100 x"]),
      ("Pay 100 to Bob", ["> Pay 100 to Bob"]),
      ("\u{661}\u{662} x", ["> \\u{661}\\u{662} x"]), ("שלם לאבא", ["> שלם לאבא"]),
    ])
  func directions(_ text: String, _ rows: [String]) {
    let block = TerminalText.block(text, first: "> ", next: "> ", width: 80)
    #expect(block.description.split(separator: "\n").map(String.init) == rows)
  }

  @Test(
    "right-to-left characters next to a number are shown as code points, also in a pipe",
    arguments: [80, nil])
  func directionOfALine(_ width: Int?) {
    #expect(("id 7: \("אב")" as TerminalText).shown(width: width, usesUTF8: true) == "id 7: \\u{5D0}\\u{5D1}")
    #expect(("id: \("אב")" as TerminalText).shown(width: width, usesUTF8: true) == "id: אב")
    #expect(("id: \("אב 7")" as TerminalText).shown(width: width, usesUTF8: true) == "id: \\u{5D0}\\u{5D1} 7")
  }

  @Test("are ASCII if the terminal supports nothing else")
  func ascii() {
    #expect(("für \("Zoë")" as TerminalText).shown(width: 80, usesUTF8: false) == "für Zo\\u{EB}")
    #expect(TerminalText.block("Zoë", first: "> ", next: "> ", width: 80, usesUTF8: false) == "> Zo\\u{EB}")
  }

  @Test("trust literals and no interpolated value")
  func trust() {
    let hostile = "a\nb\u{1B}[2J"
    #expect("\(hostile)\n" as TerminalText == "a␊b␛[2J\n")
    #expect("\(Optional(hostile) ?? "", limit: 3)" as TerminalText == "a␊…")
    #expect("\(7) \(ours: "x\ny") abc \(hostile)" as TerminalText == "7 x\ny abc a␊b␛[2J")
    #expect(
      "\([hostile])".contains("\\n") && !("\([hostile])" as TerminalText).description.contains("\u{1B}"))
    #expect(TerminalText(hostile) + "\n" == "a␊b␛[2J\n")
  }

  @Test(
    "have a bar before foreign text, and keep words whole if they fit",
    arguments: [
      (
        "a sentence of ours that is longer than the window",
        ["a sentence of ours ", "    that is longer ", "    than the window"]
      ),
      ("signet: \("one two three four five")", ["signet: one two ", "  | three four five"]),
      ("signet: \("")", ["signet: "]),
      (
        "signet: \("x") and then words of ours that go on",
        ["signet: x and then ", "    words of ours ", "    that go on"]
      ),
      ("one two three four \("five") six", ["one two three four ", "  | five six"]),
      ("\("x") of others, and then ours", ["| x of others, and ", "    then ours"]),
      ("a word-of-ours-that-is-too-long b", ["a ", "    word-of-ours-that-is-too-long", "    b"]),
    ] as [(TerminalText, [String])])
  func bars(_ text: TerminalText, _ rows: [String]) {
    #expect(text.shown(width: 20, usesUTF8: true) == rows.joined(separator: "\n"))
    #expect(text.shown(width: nil, usesUTF8: true) == text.description)
  }

  @Test("of a block are left as they are")
  func laidOut() {
    let block = TerminalText.block("a text of others that is long", first: "> ", next: "> ", width: 25)
    #expect(block.shown(width: 20, usesUTF8: true) == block.description)
    #expect(block.description.contains("\n"))
  }

  @Test("do not break text to be copied: it gets its own row if it does not fit")
  func copied() {
    let command = "signet trust ca.pem --pin " + String(repeating: "A", count: 20)
    let text: TerminalText = "Run it: \(command: command) and wait"
    #expect(text.shown(width: nil, usesUTF8: true) == "Run it: \(command) and wait")
    #expect(text.shown(width: 80, usesUTF8: true) == "Run it: \(command) and wait")
    #expect(text.shown(width: 60, usesUTF8: true) == "Run it: \(command) and \n    wait")
    #expect(text.shown(width: 52, usesUTF8: true) == "Run it: \n    \(command)\n    and wait")
    let key = String(repeating: "A", count: 40)
    #expect(TerminalText(copied: key).shown(width: 20, usesUTF8: true) == key)
    #expect(TerminalText(copied: "a\n\u{1B}b").description == "a␊␛b")
    // A text that is no single word of ASCII counts as foreign, even if it is marked for copying.
    for text in ["https://x  signet: revoked", "ü"] {
      #expect(TerminalText(copied: text).shown(width: 60, usesUTF8: true) == "| \(text)")
    }
  }

  @Test("have a long command in lines that a shell reads as one")
  func continued() {
    let text: TerminalText = "Run it: \(command: "signet trust 'my bank/ca.pem' --pin AAAAA") and wait"
    #expect(
      text.shown(width: 36, usesUTF8: true)
        == "Run it: \n    signet trust 'my bank/ca.pem' \\\n    --pin AAAAA\n    and wait")
    #expect(
      TerminalText(command: #"a 'b'\''c d' e"#).shown(width: 20, usesUTF8: true) == #"a 'b'\''c d' e"#)
    #expect(
      TerminalText(command: #"signet 'b'\''c dddd' \ e"#).shown(width: 20, usesUTF8: true)
        == "signet \\\n    'b'\\''c dddd' \\\n    \\ e")
  }

  @Test("have a command in escaped ASCII if the terminal supports no more")
  func commandInASCII() {
    let text: TerminalText = "Run it: \(command: #"signet 'Müller'\''s банк' ü \' x"#) at \("ü")"
    #expect(
      text.shown(width: nil, usesUTF8: false)
        == #"Run it: signet 'M'"$(printf '\303\274')"'ller'\''s '"$(printf '\320\261\320\260\320\275\320\272')"'' "$(printf '\303\274')" \' x at \u{FC}"#
    )
  }

  @Test("are cut at a limit")
  func limited() {
    let text: TerminalText = "ab\("cdef")gh"
    #expect(text.limited(to: 8) == text)
    #expect(text.limited(to: 7) == "abcdef…")
    #expect(text.limited(to: 4) == "abc…")
    #expect(
      ("\(String(repeating: "x", count: 90)) y" as TerminalText).limited(to: 30)
        .shown(width: 20, usesUTF8: true).split(separator: "\n").allSatisfy { $0.contains("| ") })
  }

  @Test("of a long text are all there")
  func length() {
    let text = String(repeating: "x", count: 200_000)
    let shown = ("\(text)" as TerminalText).shown(width: 40, usesUTF8: true)
    #expect(shown.split(separator: "\n").count > 5000 && shown.count { $0 == "x" } == text.count)
  }
}
