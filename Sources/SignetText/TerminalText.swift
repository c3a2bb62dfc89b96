/// Text for a terminal: made harmless, measured, wrapped.
public enum TerminalText {
  /// Makes every character visible that could steer a terminal or deceive a reader.
  ///
  /// C0 controls and DEL become their pictures (ESC is `␛`, a newline is `␊`). C1 controls, format characters
  /// (bidirectional overrides and isolates, zero-width characters), line and paragraph separators, other
  /// invisible characters, private use and unassigned ones become `\u{202E}` and the like. A variation
  /// selector-16 is kept after an emoji. The result has one line and is for display only: it cannot be turned
  /// back.
  ///
  /// - Parameters:
  ///   - text: What somebody else wrote.
  ///   - limit: The most characters (grapheme clusters) of the result; what is cut is shown by `…`.
  /// - Returns: Text that is safe to print.
  public static func sanitised(_ text: String, limit: Int? = nil) -> String {
    var output = ""
    var previous: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      // Long before a hostile megabyte is through, enough has been seen: a character of the result can take
      // several scalars, but one of more than 64 is not worth waiting for.
      if let limit, output.unicodeScalars.count > 64 * (limit + 1) { break }
      if scalar == "\u{FE0F}", let previous, previous.properties.isEmoji {
        output.unicodeScalars.append(scalar)
      } else {
        append(scalar, to: &output)
      }
      previous = scalar
    }
    guard let limit, output.count > limit else { return output }
    return output.prefix(max(limit - 1, 0)) + "…"
  }

  /// The columns that `text` takes, for common cases.
  ///
  /// 2 for wide East Asian characters and emoji, 0 for combining marks, 1 for the others. The text must have
  /// been sanitised.
  public static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

  /// The beginning of a line that takes at most `width` columns; what is cut is shown by `…`.
  ///
  /// - Parameters:
  ///   - text: Sanitised text.
  ///   - width: The columns.
  /// - Returns: The text, or its beginning.
  package static func clipped(_ text: String, width: Int) -> String {
    guard Self.width(text) > width else { return text }
    var (line, columns) = ("", 1)
    for character in text {
      columns += Self.width(character)
      if columns > width { break }
      line.append(character)
    }
    return line + "…"
  }

  /// Breaks text at spaces into lines of at most `width` columns; a longer word has a line of its own.
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

  /// Breaks text into lines of at most `width` columns wherever they are full, so that no terminal has to: what it would put at
  /// the beginning of a row is then ours.
  ///
  /// - Parameters:
  ///   - text: Sanitised text.
  ///   - width: The columns, at least 2.
  /// - Returns: The lines, at least one; together they are the text.
  public static func broken(_ text: String, width: Int) -> [String] {
    var (lines, columns) = ([""], 0)
    for character in text {
      let wide = Self.width(character)
      if columns + wide > width {
        lines.append("")
        columns = 0
      }
      lines[lines.count - 1].append(character)
      columns += wide
    }
    return lines
  }

  private static func append(_ scalar: Unicode.Scalar, to output: inout String) {
    switch scalar.value {
    case 0x00...0x1F: output.unicodeScalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
    case 0x20...0x7E: output.unicodeScalars.append(scalar)
    case 0x7F: output.unicodeScalars.append("\u{2421}")
    default:
      if scalar.isInvisible {
        output += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
      } else {
        output.unicodeScalars.append(scalar)
      }
    }
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

  /// The blocks that Unicode Standard Annex 11 calls wide, and what is shown as an emoji by itself.
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
