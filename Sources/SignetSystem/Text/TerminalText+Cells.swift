extension TerminalText {
  /// A unit that is not broken: a character; of a very wide character, a code point with its marks.
  struct Cell {
    /// The width of a code point with the maximum number of marks.
    static let maximumWidth = 10

    enum Direction { case either, number, rightToLeft }

    var text: String
    var columns: Int
    var isOutside = false
    var beginsRow = false
    /// True if the cell stays in one row with its neighbours.
    var isUnbreakable = false
    var isCopied = false
    var isCommand = false

    var isSpace: Bool { text == " " }
    var isNumber: Bool { text.unicodeScalars.contains(where: \.isNumber) }
    var isRightToLeft: Bool { text.unicodeScalars.contains(where: \.isRightToLeft) }

    /// The cells of the escapes of its code points.
    var escaped: [Cell] {
      text.unicodeScalars.flatMap {
        TerminalText.code(of: $0).map { Cell(text: String($0), columns: 1, isOutside: true) }
      }
    }

    static func cells(of piece: Piece) -> [Cell] {
      if piece.origin == .style { return [Cell(text: piece.text, columns: 0)] }
      if piece.origin == .copied || piece.origin == .command {
        let columns = TerminalText.widest(piece.text)
        return [
          Cell(text: piece.text, columns: columns, isCopied: true, isCommand: piece.origin == .command)
        ]
      }
      let isOutside = piece.origin == .outside
      var cells: [Cell] = []
      for character in piece.text {
        let columns = TerminalText.widest(String(character))
        if columns <= maximumWidth {
          cells.append(Cell(text: String(character), columns: columns, isOutside: isOutside))
        } else {
          // Unicode can treat dozens of syllable parts as one character.
          for scalar in character.unicodeScalars {
            if scalar.isMark, cells.last?.isSpace == false {
              cells[cells.count - 1].text.unicodeScalars.append(scalar)
              cells[cells.count - 1].columns += 2
            } else {
              cells.append(
                Cell(text: String(scalar), columns: scalar.isASCII ? 1 : 2, isOutside: isOutside))
            }
          }
        }
      }
      return cells
    }
  }

  /// A row during layout.
  struct Row {
    var text = ""
    var columns = 0
    var hasForeignText = false
    var isBlank = true
    /// True if the next cell belongs in another row, because a trusted space did not fit.
    var isFull = false
    /// True if the next trusted space ends the row.
    var endsAtSpace = false

    mutating func add(_ cell: Cell) {
      text += cell.text
      columns += cell.columns
      hasForeignText = hasForeignText || cell.isOutside
      isBlank = isBlank && (cell.isSpace || cell.columns == 0)
    }
  }
}
