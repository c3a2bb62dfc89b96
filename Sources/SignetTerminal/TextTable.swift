/// Rows of text in aligned columns, two spaces apart.
///
/// Every cell is sanitised (``TerminalText/sanitised(_:limit:)``), so that rows may hold what others wrote.
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

    /// A column.
    public init(_ title: String, _ alignment: Alignment = .left) {
      self.title = title
      self.alignment = alignment
    }

    /// A column of text.
    public init(stringLiteral value: String) { self.init(value) }
  }

  private let columns: [Column]
  private var rows: [[String]] = []

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
    rows.append(cells.map { TerminalText.sanitised($0, limit: 200) })
  }

  /// Whether no row was added.
  public var isEmpty: Bool { rows.isEmpty }

  /// The title line and the rows, each ended by a newline, without spaces at the end of a line.
  public var text: String { ([columns.map(\.title)] + rows).map { line($0) + "\n" }.joined() }

  private func line(_ cells: [String]) -> String {
    var line = ""
    for (index, cell) in cells.enumerated() {
      let width = ([columns[index].title] + rows.map { $0[index] }).map(TerminalText.width).max() ?? 0
      let padding = String(repeating: " ", count: width - TerminalText.width(cell))
      if index > 0 { line += "  " }
      line += columns[index].alignment == .left ? cell + padding : padding + cell
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}
