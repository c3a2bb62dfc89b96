import SignetTerminal
import Testing

@Suite("Layout", .timeLimit(.minutes(10))) struct LayoutTests {
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

  @Test("columns that do not fit the terminal go below their rows; a pipe keeps them in line")
  func narrowTable() {
    var table = TextTable(["ID", "STATE", "CREATED", .init("COUNT", .right), "CONTENT"])
    table.append(["a1", "open", "2026-11-21", "7", "Pay 5"])
    table.append(["a2", "done", "2026-11-22", "", "Pay 20"])
    // A row has 37 columns; with the bar and the free one, 40.
    let whole = """
      | ID  STATE  CREATED     COUNT  CONTENT
      | a1  open   2026-11-21      7  Pay 5
      | a2  done   2026-11-22         Pay 20

      """
    let four = """
      | ID  STATE  CREATED     COUNT
      | a1  open   2026-11-21      7
        CONTENT  Pay 5
      | a2  done   2026-11-22
        CONTENT  Pay 20

      """
    let two = """
      | ID  STATE
      | a1  open
        CREATED  2026-11-21
        COUNT    7
        CONTENT  Pay 5
      | a2  done
        CREATED  2026-11-22
        CONTENT  Pay 20

      """
    for (width, shown) in [(40, whole), (39, four), (23, two)] {
      let seen = Collector()
      seen.terminal(width: width, isTerminal: true).print(table)
      #expect(seen.text == shown, "\(width) columns")
    }
    let piped = Collector()
    piped.terminal(width: 23).print(table)
    #expect(piped.text.hasPrefix("ID  STATE  CREATED     COUNT  CONTENT\n"))
    #expect(piped.text == "\(table.text)\n")
  }

  @Test("each row of a table has the bar, also where its first cell is empty or at the right of its column")
  func barsOfATable() {
    var table = TextTable([.init("N", .right), "EVENT"])
    for number in ["9", "100", ""] { table.append([number, "made"]) }
    let seen = Collector()
    seen.terminal(isTerminal: true).print(table)
    #expect(
      seen.text == """
        |   N  EVENT
        |   9  made
        | 100  made
        |      made

        """)
  }

  @Test("a terminal gets rows that begin with our own text, a pipe gets plain lines")
  func printing() {
    let hostile = "Pay 1" + String(repeating: " ", count: 16) + "from    My Own Bank AG"
    let (seen, piped) = (Collector(), Collector())
    for (terminal, collector) in [
      (seen.terminal(width: 32, isTerminal: true), seen), (piped.terminal(), piped),
    ] {
      var table = TextTable(["WHAT", "WHO"])
      table.append([hostile, "x"])
      terminal.print(table)
      terminal.print("signet: \(hostile)\nNothing was signed.")
      terminal.print(terminal.styled("\(hostile)", .bold))
      terminal.print(json: #"{"text":"\#u{9B}é👍"}"#)
      #expect(!collector.text.contains("\n\n"))
    }
    let line = hostile
    #expect(
      piped.text == """
        WHAT\(String(repeating: " ", count: line.count - 2))WHO
        \(line)  x
        signet: \(line)
        Nothing was signed.
        \(line)
        {"text":"\u{9B}é👍"}

        """)
    let rows = seen.text.split(separator: "\n")
    for row in rows {
      #expect(
        ["| ", "  | ", "  WHO  x", "signet: ", "Nothing was", "{"].contains { row.hasPrefix($0) }
          && (row.count < 32 || row.hasPrefix("{")),
        "\(row)")
    }
    #expect(rows.last == #"{"text":"\u009b\u00e9\ud83d\udc4d"}"#)
  }

  @Test(
    "a bar precedes foreign text in a failure, and a failure with text of unknown origin"
  )
  func failures() {
    let known = CommandFailure(
      .unavailable, "the server at \("host.example") is away; try again later, or ask its operator")
    let cases: [(failure: any Error, width: Int, shown: String)] = [
      (
        known, 40,
        """
        x: the server at host.example is away;\u{20}
            try again later, or ask its\u{20}
            operator

        """
      ),
      (UsageFailure.refused("--a is for \("somebody else")"), 24, "x: --a is for somebody \n  | else\n"),
      (SampleFailure(), 24, "x: a failure of the \n  | domain\n"),
    ]
    for (failure, width, shown) in cases {
      let seen = Collector()
      seen.terminal(width: width, isTerminal: true).print("x: \(TerminalText(of: failure, limit: 2000))")
      #expect(seen.text == shown)
    }
    #expect(known.description.hasPrefix("the server at host.example is away"))
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
