import LibFuzzer

// `@testable` because only our programs lay out rows.
@testable import SignetSystem

@main struct FuzzTerminal {
  static func main() { LibFuzzer.run(check) }

  /// The first byte sets the width of the window.
  static func check(_ input: [UInt8]) {
    let width = 20 + Int(input.first ?? 0)
    let text = String(decoding: input.dropFirst(), as: UTF8.self)
    checkEscaping(text)
    for usesUTF8 in [false, true] {
      let line: TerminalText = "ours: \(text)"
      checkRows(line.shown(width: width, usesUTF8: usesUTF8), "ours: ", "  | ", width, usesUTF8)
      let alone: TerminalText = "\(text)"
      checkRows(alone.shown(width: width, usesUTF8: usesUTF8), "| ", "  | ", width, usesUTF8)
      let block = TerminalText.block(
        text, first: "  from    ", next: "  |       ", width: width, usesUTF8: usesUTF8)
      checkRows(block.description, "  from    ", "  |       ", width, usesUTF8)
    }
    let piped = ("\(text)" as TerminalText).shown(width: nil, usesUTF8: true)
    require(!piped.contains("\n"), "a text of others is one line")
  }

  private static func checkEscaping(_ text: String) {
    let escaped = TerminalText.sanitised(text)
    require(TerminalText.sanitised(escaped).utf8.elementsEqual(escaped.utf8), "escaped twice is escaped once")
    require(
      !escaped.unicodeScalars.contains { $0.isInvisible && $0 != "\u{FE0F}" || $0.isBlank && $0 != " " },
      "everything shows")
    require(TerminalText.sanitised(text, limit: 20).count <= 20, "a limit holds")
  }

  private static func checkRows(
    _ shown: String, _ first: String, _ next: String, _ width: Int, _ usesUTF8: Bool
  ) {
    for row in shown.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
      let begins = [first, next, "  ~ "].contains { row.starts(with: $0.utf8) }
      require(begins || text(row).isEmpty, "a row begins with something of ours")
      require(TerminalText.widest(text(row)) <= width, "a row is no wider than the window")
      require(usesUTF8 || row.allSatisfy { $0 < 0x80 }, "a terminal without more than ASCII gets no more")
      let scalars = text(row).unicodeScalars
      require(
        !scalars.contains(where: \.isRightToLeft) || !scalars.contains(where: \.isNumber),
        "nothing moves a digit")
    }
  }

  private static func text(_ row: Substring.UTF8View) -> String {
    String(decoding: Array(row), as: UTF8.self)
  }
}
