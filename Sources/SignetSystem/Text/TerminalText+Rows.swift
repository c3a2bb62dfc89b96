extension TerminalText {
  /// The prefix of a continuation row with foreign text, and of each row of a foreign block.
  static let bar = "  | "
  /// The prefix of a continuation row with trusted text only; as wide as the bar.
  static let indentation = "    "

  /// Returns the text for printing; with a width, it is broken into rows that fit in any terminal.
  ///
  /// Only a trusted word, and text to copy, may be longer than a row.
  ///
  /// - Parameters:
  ///   - width: The columns of the terminal, at least 20; `nil` if the output is not a terminal, then nothing is broken.
  ///   - usesUTF8: True if the terminal can show more than ASCII.
  /// - Returns: The text without a line feed at its end, unless the text itself has one.
  package func shown(width: Int?, usesUTF8: Bool) -> String {
    lines.map { Self.shown($0, width: width, usesUTF8: usesUTF8) }.joined(separator: "\n")
  }

  private static func shown(_ line: [Piece], width: Int?, usesUTF8: Bool) -> String {
    var line = line
    if !usesUTF8 {
      for index in line.indices where line[index].isEscaped {
        let text = line[index].text
        line[index].text = line[index].origin == .command ? ShellLine.ascii(text) : ascii(text)
      }
    }
    preserveOrder(&line)
    guard let width, !line.allSatisfy({ $0.origin == .formatted }) else { return line.map(\.text).joined() }
    let first = line.first { $0.origin != .style && !$0.text.isEmpty }
    var cells = line.flatMap(Cell.cells)
    markUnbreakable(&cells)
    return rows(
      cells, first: first?.origin == .outside ? "| " : "", next: bar, ofOurs: indentation, width: width
    )
    .joined(separator: "\n")
  }

  /// Lays out foreign lines as a block of rows, each with a trusted prefix.
  ///
  /// Empty lines become one row `  ~ 61 empty lines`. Right-to-left text does not share a row with a number.
  ///
  /// - Parameters:
  ///   - text: Any text; a line feed ends a line.
  ///   - first: The prefix of the first row.
  ///   - next: The prefix of each other row.
  ///   - width: The columns, at least 20.
  ///   - usesUTF8: True if the terminal can show more than ASCII.
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
      let cells = separatingDirections(Cell.cells(of: Piece(text: shown, origin: .outside)))
      output += rows(cells, first: before, next: next, width: width)
      before = next
    }
    endEmptyLines()
    return TerminalText(pieces: [Piece(text: output.joined(separator: "\n"), origin: .formatted)])
  }

  /// The lines; only trusted text ends one.
  private var lines: [[Piece]] {
    var lines: [[Piece]] = [[]]
    for piece in pieces {
      guard piece.origin == .ours || piece.origin == .formatted else {
        lines[lines.count - 1].append(piece)
        continue
      }
      for (index, part) in piece.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        if index > 0 { lines.append([]) }
        if !part.isEmpty { lines[lines.count - 1].append(Piece(text: String(part), origin: piece.origin)) }
      }
    }
    return lines
  }

  /// Escapes right-to-left characters if the line has a digit that they could move.
  private static func preserveOrder(_ line: inout [Piece]) {
    let scalars = line.lazy.filter { $0.origin != .style }.flatMap(\.text.unicodeScalars)
    guard scalars.contains(where: \.isRightToLeft), scalars.contains(where: \.isNumber) else { return }
    for index in line.indices where line[index].isEscaped {
      line[index].text = line[index].text.unicodeScalars.reduce(into: "") { text, scalar in
        if scalar.isRightToLeft { text += code(of: scalar) } else { text.unicodeScalars.append(scalar) }
      }
    }
  }

  /// Marks words without foreign text, which are not broken.
  private static func markUnbreakable(_ cells: inout [Cell]) {
    var start = 0
    while start < cells.count {
      let end = cells[start...].firstIndex(where: \.isSpace) ?? cells.count
      if cells[start..<end].allSatisfy({ !$0.isOutside }) {
        for index in start..<end { cells[index].isUnbreakable = true }
      }
      start = end + 1
    }
  }

  /// Inserts row breaks between right-to-left words and words with a number; escapes the right-to-left characters of a word
  /// with both.
  ///
  /// A word without a direction, such as a sign or a currency, stays with the number next to it.
  private static func separatingDirections(_ cells: [Cell]) -> [Cell] {
    var (output, start, row): ([Cell], Int, Cell.Direction) = ([], 0, .either)
    // The start of the words after the last one with a direction.
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
          let breakIndex = direction == .number ? neutral ?? output.count : output.count
          if breakIndex < output.count {
            output[breakIndex].beginsRow = true
          } else {
            word[0].beginsRow = true
          }
        }
        (row, neutral) = (direction, nil)
      }
      output += word
      start = end
    }
    return output
  }

  /// Breaks cells into rows at spaces, and within foreign words that are longer than a row.
  ///
  /// - Parameters:
  ///   - cells: One line.
  ///   - first: The prefix of the first row.
  ///   - next: The prefix of each other row.
  ///   - ofOurs: The prefix of a row without foreign text; as wide as `next`, which is used if it is `nil`.
  ///   - width: The columns.
  /// - Returns: At least one row.
  private static func rows(
    _ cells: [Cell], first: String, next: String, ofOurs: String? = nil, width: Int
  ) -> [String] {
    var (rows, row) = ([String](), Row())
    // The last column stays free: some terminals move to the next row when it is filled.
    func availableColumns() -> Int { max(2, width - 1 - widest(rows.isEmpty ? first : next)) }
    func end() {
      let before = rows.isEmpty ? first : row.hasForeignText ? next : ofOurs ?? next
      rows.append(before + row.text)
      row = Row()
    }
    for (index, cell) in cells.enumerated() {
      if cell.isSpace, !cell.isOutside, row.endsAtSpace || row.columns + 1 > availableColumns() {
        row.isFull = true
        continue
      }
      if row.isFull, cell.columns > 0 { end() }
      let beginsWord = !cell.isSpace && (index == 0 || cells[index - 1].isSpace)
      if cell.beginsRow, row.columns > 0 {
        end()
      } else if beginsWord, row.columns > 0 {
        var (length, last) = (0, index)
        while last < cells.count, !cells[last].isSpace, length <= width {
          length += cells[last].columns
          last += 1
        }
        let isMoved = cell.isUnbreakable ? !row.isBlank : length <= max(2, width - 1 - widest(next))
        if row.columns + length > availableColumns(), isMoved { end() }
      }
      let fits = row.columns + cell.columns <= availableColumns()
      if !fits, cell.isCopied ? !row.isBlank : !cell.isUnbreakable { end() }
      // Text after it on the same row would be copied with it.
      if cell.isCopied, row.isBlank, !rows.isEmpty || !fits { row.endsAtSpace = true }
      let narrowest = max(2, width - 1 - widest(next))
      let lines = cell.isCommand && !fits ? ShellLine.lines(of: cell.text, width: narrowest) : [cell.text]
      for line in lines.dropLast() {
        row.add(Cell(text: line, columns: widest(line)))
        end()
        row.endsAtSpace = true
      }
      if let last = lines.last { row.add(Cell(text: last, columns: widest(last), isOutside: cell.isOutside)) }
    }
    end()
    return rows
  }

  /// The upper bound of the columns that a terminal uses for escaped text.
  ///
  /// Terminals differ in the width of ambiguous characters (UAX 11), marks, syllable parts and newer scripts, and in
  /// grapheme clusters. No terminal uses more than two columns for a code point, or more than one for an ASCII character.
  package static func widest(_ text: some StringProtocol) -> Int {
    text.unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 1 : 2) }
  }
}

extension TerminalText.Piece {
  /// True if the piece was escaped, because it may contain foreign text.
  fileprivate var isEscaped: Bool { origin == .outside || origin == .copied || origin == .command }
}
