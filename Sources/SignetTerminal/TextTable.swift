/// Rows of text in aligned columns, two spaces apart.
///
/// Every cell is somebody else's text, and is escaped here: rows may hold what others wrote.
public struct TextTable: Sendable {
  /// On which side a column is ragged.
  public enum Alignment: Sendable {
    /// Text begins at the left.
    case left
    /// Numbers end at the right.
    case right
  }

  /// The title of a column and how it is aligned.
  public struct Column: Sendable, ExpressibleByStringLiteral {
    let title: String
    let alignment: Alignment
    let limit: Int

    /// A column.
    ///
    /// - Parameters:
    ///   - title: The first line of it.
    ///   - alignment: Where its text begins or ends.
    ///   - limit: The most characters of a cell, as ``TerminalText/init(_:limit:)`` has it.
    public init(_ title: String, _ alignment: Alignment = .left, limit: Int = 200) {
      self.title = title
      self.alignment = alignment
      self.limit = limit
    }

    /// A column of text.
    public init(stringLiteral value: String) { self.init(value) }
  }

  private let columns: [Column]
  private var rows: [[TerminalText]] = []

  /// An empty table.
  ///
  /// - Parameter columns: At least one.
  public init(_ columns: [Column]) {
    precondition(!columns.isEmpty, "a table has columns")
    self.columns = columns
  }

  /// Adds a row, with one cell for each column.
  public mutating func append(_ cells: [String]) {
    precondition(cells.count == columns.count, "a row has \(columns.count) cells, not \(cells.count)")
    rows.append(zip(columns, cells).map { TerminalText($1, limit: $0.limit) })
  }

  /// Whether no row was added.
  public var isEmpty: Bool { rows.isEmpty }

  /// The title line and the rows, without spaces at the end of a line, nor a newline at the end of the last one.
  public var text: TerminalText { text(beside: columns.count) }

  /// The same for a terminal: each row has the bar before it, whatever its first cell is, and what does not fit beside the first columns
  /// stands below its row, on a line with its title.
  ///
  /// - Parameter width: The columns of the terminal.
  /// - Returns: Rows that fit, but for a first column or a cell below that is too wide alone.
  func text(width: Int) -> TerminalText {
    // The last column stays free, as `TerminalText.shown` has it.
    var room = width - Self.bar.count - 1
    var count = 0
    let lines = self.lines
    for index in columns.indices {
      let cells = lines.map { $0[index].description }
      // Cells are padded by the width that they mostly take, and rows are broken by the most that they may.
      let more = cells.map { TerminalText.widest($0) - TerminalText.width($0) }.max() ?? 0
      room -= (index > 0 ? 2 : 0) + (cells.map { TerminalText.width($0) }.max() ?? 0) + more
      guard room >= 0 else { break }
      count += 1
    }
    return text(beside: max(count, 1), after: Self.bar)
  }

  /// What `TerminalText.shown` gives a line that begins with somebody else's text: one whose first cell is empty, or stands at the
  /// right of its column, begins with spaces of ours.
  private static let bar = "| "

  /// A title may stand beside a cell: both are somebody else's, so that both get the same bar before them.
  private var lines: [[TerminalText]] { [columns.map { TerminalText($0.title) }] + rows }

  /// The titles and rows of the first columns, and below each row what it has in the others.
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
    // Spaces are written once something follows them.
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
