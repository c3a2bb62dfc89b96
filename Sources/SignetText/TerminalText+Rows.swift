extension TerminalText {
  /// What stands before what goes on, and before each row of others' text in a block.
  static let bar = "  | "

  /// What is printed: with a width, in rows none of which takes more columns in any terminal; lines of ours alone are left as they
  /// are.
  ///
  /// - Parameters:
  ///   - width: The columns of the terminal, at least 20; `nil` where it is none.
  ///   - usesUTF8: Whether the terminal has more than ASCII.
  /// - Returns: The text without a line feed at its end, unless it has one.
  package func shown(width: Int?, usesUTF8: Bool) -> String {
    lines.map { line in
      guard line.contains(where: { $0.origin == .outside }) else { return line.map(\.text).joined() }
      var line = line
      if !usesUTF8 {
        for index in line.indices where line[index].origin == .outside {
          line[index].text = Self.ascii(line[index].text)
        }
      }
      Self.keepOrder(&line)
      guard let width else { return line.map(\.text).joined() }
      let first = line.first { $0.origin != .style && !$0.text.isEmpty }
      return Self.rows(
        line.flatMap(Cell.cells), first: first?.origin == .outside ? "| " : "", next: Self.bar, width: width
      )
      .joined(separator: "\n")
    }
    .joined(separator: "\n")
  }

  /// Somebody else's lines as a block of rows, each with something of ours before it.
  ///
  /// Empty lines become one row `  ~ 61 empty lines`. What is written from right to left does not share a row with a number.
  ///
  /// - Parameters:
  ///   - text: Anything; a line feed ends a line.
  ///   - first: What stands before the first row.
  ///   - next: What stands before each other one.
  ///   - width: The columns, at least 20.
  ///   - usesUTF8: Whether the terminal has more than ASCII.
  /// - Returns: The rows, without a line feed at the end.
  public static func block(
    _ text: String, first: String, next: String, width: Int, usesUTF8: Bool = true
  ) -> TerminalText {
    var (output, before, empty): ([String], String, Int) = ([], first, 0)
    func endEmptyLines() {
      if empty > 0 { output.append("  ~ \(empty) empty line\(empty == 1 ? "" : "s")") }
      empty = 0
    }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.isEmpty, before == next || text.contains("\n") {
        empty += 1
        continue
      }
      endEmptyLines()
      var shown = sanitised(String(line))
      if !shown.isEmpty, shown.allSatisfy({ $0 == " " }) { shown = "␣{20×\(shown.count)}" }
      if !usesUTF8 { shown = ascii(shown) }
      let cells = keptApart(Cell.cells(of: Piece(text: shown, origin: .outside)))
      output += rows(cells, first: before, next: next, width: width)
      before = next
    }
    endEmptyLines()
    return TerminalText(ours: output.joined(separator: "\n"))
  }

  /// The lines; only text of ours ends one.
  private var lines: [[Piece]] {
    var lines: [[Piece]] = [[]]
    for piece in pieces {
      guard piece.origin == .ours else {
        lines[lines.count - 1].append(piece)
        continue
      }
      for (index, part) in piece.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        if index > 0 { lines.append([]) }
        if !part.isEmpty { lines[lines.count - 1].append(Piece(text: String(part), origin: .ours)) }
      }
    }
    return lines
  }

  /// Shows the code points of what is written from right to left, where the line has a digit that it could move.
  private static func keepOrder(_ line: inout [Piece]) {
    let scalars = line.lazy.filter { $0.origin != .style }.flatMap(\.text.unicodeScalars)
    guard scalars.contains(where: \.isRightToLeft), scalars.contains(where: \.isNumber) else { return }
    for index in line.indices where line[index].origin == .outside {
      line[index].text = line[index].text.unicodeScalars.reduce(into: "") { text, scalar in
        if scalar.isRightToLeft { text += code(of: scalar) } else { text.unicodeScalars.append(scalar) }
      }
    }
  }

  /// Cells with a break between words from right to left and words with a number; a word that is both shows its code points.
  ///
  /// What is neither, such as a sign or a currency, stays with the number beside it.
  private static func keptApart(_ cells: [Cell]) -> [Cell] {
    var (output, start, row): ([Cell], Int, Cell.Direction) = ([], 0, .either)
    // Where the words begin that stand behind the last one with a direction.
    var neutral: Int?
    while start < cells.count {
      let space = cells[start...].firstIndex(where: \.isSpace) ?? cells.count
      let end = cells[space...].firstIndex { !$0.isSpace } ?? cells.count
      var word = Array(cells[start..<end])
      let isRightToLeft = word.contains(where: \.isRightToLeft)
      let hasNumber = word.contains(where: \.isNumber)
      if isRightToLeft, hasNumber {
        word = word.flatMap { $0.isRightToLeft ? $0.escaped : [$0] }
      }
      let direction: Cell.Direction = hasNumber ? .number : isRightToLeft ? .rightToLeft : .either
      if direction == .either {
        neutral = neutral ?? output.count
      } else {
        if row != .either, row != direction {
          let place = direction == .number ? neutral ?? output.count : output.count
          if place < output.count { output[place].beginsRow = true } else { word[0].beginsRow = true }
        }
        (row, neutral) = (direction, nil)
      }
      output += word
      start = end
    }
    return output
  }

  /// Breaks cells into rows at spaces, and within words that are longer than a row.
  private static func rows(_ cells: [Cell], first: String, next: String, width: Int) -> [String] {
    var (rows, row, used) = ([String](), first, 0)
    // The last column stays free: some terminals go on to the next row once it is filled.
    func room() -> Int { max(2, width - 1 - widest(rows.isEmpty ? first : next)) }
    func end() {
      rows.append(row)
      (row, used) = (next, 0)
    }
    for (index, cell) in cells.enumerated() {
      let beginsWord = !cell.isSpace && (index == 0 || cells[index - 1].isSpace)
      if cell.beginsRow, used > 0 {
        end()
      } else if beginsWord, used > 0 {
        var (length, last) = (0, index)
        while last < cells.count, !cells[last].isSpace, length <= width {
          length += cells[last].columns
          last += 1
        }
        if used + length > room(), length <= max(2, width - 1 - widest(next)) { end() }
      }
      if used + cell.columns > room() { end() }
      row += cell.text
      used += cell.columns
    }
    rows.append(row)
    return rows
  }

  /// The most columns that a terminal may take for escaped text.
  ///
  /// Terminals differ about what is ambiguous (UAX 11), about marks, syllables in parts and newer scripts, and about what they know
  /// to be one character. None takes more than two columns for a code point, nor for one of ASCII more than one.
  package static func widest(_ text: some StringProtocol) -> Int {
    text.unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 1 : 2) }
  }

  /// What is not parted: a character, or where it is wide, a code point and the marks on it.
  private struct Cell {
    /// One with as many marks as there may be on one code point.
    static let maximumWidth = 10

    enum Direction { case either, number, rightToLeft }

    var text: String
    var columns: Int
    var beginsRow = false

    var isSpace: Bool { text == " " }
    var isNumber: Bool { text.unicodeScalars.contains(where: \.isNumber) }
    var isRightToLeft: Bool { text.unicodeScalars.contains(where: \.isRightToLeft) }

    /// What shows its code points.
    var escaped: [Cell] {
      text.unicodeScalars.flatMap { TerminalText.code(of: $0).map { Cell(text: String($0), columns: 1) } }
    }

    static func cells(of piece: Piece) -> [Cell] {
      if piece.origin == .style { return [Cell(text: piece.text, columns: 0)] }
      var cells: [Cell] = []
      for character in piece.text {
        let columns = TerminalText.widest(String(character))
        if columns <= maximumWidth {
          cells.append(Cell(text: String(character), columns: columns))
        } else {
          // Dozens of parts of syllables can be one character to Unicode.
          for scalar in character.unicodeScalars {
            if scalar.isMark, cells.last?.isSpace == false {
              cells[cells.count - 1].text.unicodeScalars.append(scalar)
              cells[cells.count - 1].columns += 2
            } else {
              cells.append(Cell(text: String(scalar), columns: scalar.isASCII ? 1 : 2))
            }
          }
        }
      }
      return cells
    }
  }
}
