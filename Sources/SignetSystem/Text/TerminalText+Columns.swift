extension TerminalText {
  /// The usual number of columns of `text`, for alignment only; security must not depend on it.
  ///
  /// 2 for wide East Asian characters and emoji, 0 for combining marks, 1 for the others. The text must have been sanitised.
  public static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

  /// Shortens a line to at most `width` columns in any terminal; `…` marks the cut.
  ///
  /// - Parameters:
  ///   - text: Sanitised text.
  ///   - width: The columns.
  /// - Returns: The text, or its beginning.
  package static func clipped(_ text: String, width: Int) -> String {
    guard widest(text) > width else { return text }
    var (line, columns) = ("", 2)
    for character in text {
      columns += widest(String(character))
      if columns > width { break }
      line.append(character)
    }
    return line + "…"
  }

  /// Breaks trusted text at spaces into lines of at most `width` columns; a longer word gets its own line.
  ///
  /// - Parameters:
  ///   - text: Paragraphs separated by an empty line; single newlines count as spaces.
  ///   - width: The columns, at least 1.
  /// - Returns: The lines, with an empty one between paragraphs.
  public static func wrapped(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    for paragraph in text.split(separator: "\n\n") {
      if !lines.isEmpty { lines.append("") }
      var line = ""
      for word in paragraph.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
        if !line.isEmpty, Self.width(line) + 1 + Self.width(String(word)) > width {
          lines.append(line)
          line = ""
        }
        line += line.isEmpty ? String(word) : " " + word
      }
      lines.append(line)
    }
    return lines
  }

  private static func width(_ character: Character) -> Int {
    var columns = 0
    for scalar in character.unicodeScalars {
      if scalar == "\u{FE0F}" { return 2 }
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark: continue
      default: columns = max(columns, isWide(scalar) ? 2 : 1)
      }
    }
    return columns
  }

  /// Returns true for the blocks that Unicode Standard Annex 11 calls wide, and for characters shown as emoji by default.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.properties.isEmojiPresentation { return true }
    return switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
      0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      true
    default: false
    }
  }
}
