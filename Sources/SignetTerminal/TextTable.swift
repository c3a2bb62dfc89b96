/// Rows of text in aligned columns, two spaces apart.
///
/// Every cell counts as foreign text and is escaped here.
package struct TextTable: Sendable {
  /// The alignment of a column.
  package enum Alignment: Sendable {
    /// Left, for text.
    case left
    /// Right, for numbers.
    case right
  }

  /// The title and alignment of a column.
  package struct Column: Sendable, ExpressibleByStringLiteral {
    let title: String
    let alignment: Alignment
    let limit: Int

    /// Creates a column.
    ///
    /// - Parameters:
    ///   - title: The text of the title line.
    ///   - alignment: The alignment of title and cells.
    ///   - limit: The maximum number of characters of a cell, as in ``TerminalText/init(_:limit:)``.
    package init(_ title: String, _ alignment: Alignment = .left, limit: Int = 200) {
      self.title = title
      self.alignment = alignment
      self.limit = limit
    }

    /// Creates a left-aligned column.
    package init(stringLiteral value: String) { self.init(value) }
  }

  private let columns: [Column]
  private var rows: [[TerminalText]] = []

  /// Creates an empty table.
  ///
  /// - Parameter columns: At least one.
  package init(_ columns: [Column]) {
    precondition(!columns.isEmpty, "a table has columns")
    self.columns = columns
  }

  /// Adds a row, with one cell for each column.
  package mutating func append(_ cells: [String]) {
    precondition(cells.count == columns.count, "a row has \(columns.count) cells, not \(cells.count)")
    rows.append(zip(columns, cells).map { TerminalText($1, limit: $0.limit) })
  }

  /// True if the table has no rows.
  package var isEmpty: Bool { rows.isEmpty }

  /// The title line and the rows, without trailing spaces and without a final newline.
  package var text: TerminalText { text(beside: columns.count) }

  /// The table for a terminal.
  ///
  /// Each row starts with the bar. Columns that do not fit appear below their row, each on a line with its title.
  ///
  /// - Parameter width: The columns of the terminal.
  /// - Returns: Rows that fit, except if the first column or a cell below is too wide alone.
  func text(width: Int) -> TerminalText {
    // The last column stays free, as in `TerminalText.shown`.
    var available = width - Self.bar.count - 1
    var count = 0
    let lines = self.lines
    for index in columns.indices {
      let cells = lines.map { $0[index].description }
      // Cells are padded by their usual width, and rows are broken by their maximum width.
      let more = cells.map { TerminalText.widest($0) - TerminalText.width($0) }.max() ?? 0
      available -= (index > 0 ? 2 : 0) + (cells.map { TerminalText.width($0) }.max() ?? 0) + more
      guard available >= 0 else { break }
      count += 1
    }
    return text(beside: max(count, 1), after: Self.bar)
  }

  /// The prefix that `TerminalText.shown` gives a line of foreign text.
  ///
  /// Without it, a row with an empty or right-aligned first cell would start with the table's own spaces.
  private static let bar = "| "

  /// Titles are escaped like cells, so that both get the same bar.
  private var lines: [[TerminalText]] { [columns.map { TerminalText($0.title) }] + rows }

  /// The titles and rows of the first columns; below each row, its cells of the other columns.
  private func text(beside count: Int, after bar: String = "") -> TerminalText {
    let lines = self.lines
    let widths = (0..<count).map { index in
      lines.reduce(0) { max($0, TerminalText.width($1[index].description)) }
    }
    let titleWidth = columns[count...].map { TerminalText.width($0.title) }.max() ?? 0
    var text = TerminalText()
    for (index, row) in lines.enumerated() {
      if index > 0 { text += "\n" }
      text += TerminalText(ours: bar) + line(Array(row[..<count]), widths)
      guard index > 0 else { continue }
      for (column, cell) in zip(columns[count...], row[count...]) where !cell.isEmpty {
        let padding = String(repeating: " ", count: titleWidth - TerminalText.width(column.title) + 2)
        text += "\n  \(ours: column.title)\(ours: padding)\(cell)"
      }
    }
    return text
  }

  private func line(_ cells: [TerminalText], _ widths: [Int]) -> TerminalText {
    var line = TerminalText()
    // Spaces are written only before further text.
    var spaces = 0
    for (index, cell) in cells.enumerated() {
      let padding = widths[index] - TerminalText.width(cell.description)
      let isLeft = columns[index].alignment == .left
      spaces += (index > 0 ? 2 : 0) + (isLeft ? 0 : padding)
      if !cell.isEmpty {
        if index > 0 || spaces > 0 {
          line += TerminalText(ours: String(repeating: " ", count: spaces))
          spaces = 0
        }
        line += cell
      }
      if isLeft { spaces += padding }
    }
    return line
  }
}
