extension QRCode {
  /// The characters that draw a symbol.
  public enum TerminalStyle: Hashable, Sendable {
    /// Half-block characters with explicit colours, black on white: correct on every colour terminal.
    case colouredHalfBlocks
    /// Half-block characters without colours, for a terminal with a known background.
    case halfBlocks(Background)
    /// `##` and spaces only, for locales without UTF-8.
    case ascii(Background)

    /// The background colour of a terminal.
    public enum Background: Hashable, Sendable {
      /// Light text on a dark background: characters draw the light modules.
      case dark
      /// Dark text on a light background: characters draw the dark modules.
      case light
    }
  }

  /// Draws the symbol with characters, dark on light; each line ends with a newline.
  ///
  /// A half-block line shows two rows of modules and is `side + 2 * quietZone` columns wide. An `ascii` line shows one row
  /// and is twice as wide.
  ///
  /// - Parameters:
  ///   - style: The characters, with or without colours.
  ///   - quietZone: The margin in modules, 0 to 32; values outside are clamped.
  /// - Returns: The lines of the drawing.
  public func terminalText(_ style: TerminalStyle, quietZone: Int = standardQuietZone) -> String {
    let margin = min(max(quietZone, 0), 32)
    return switch style {
    // Colours 16 and 231 of the 256-colour palette are black and white in every theme; 30 and 47 are not.
    case .colouredHalfBlocks:
      halfBlocks(margin, inkIsLight: true, before: "\u{1B}[38;5;231;48;5;16m", after: "\u{1B}[0m")
    case .halfBlocks(let background):
      halfBlocks(margin, inkIsLight: background == .dark, before: "", after: "")
    case .ascii(let background): ascii(margin, inkIsLight: background == .dark)
    }
  }

  private func halfBlocks(_ margin: Int, inkIsLight: Bool, before: String, after: String) -> String {
    var text = ""
    for row in stride(from: -margin, to: side + margin, by: 2) {
      text += before
      for column in -margin..<side + margin {
        let upper = isDark(row: row, column: column) != inkIsLight
        let lower = isDark(row: row + 1, column: column) != inkIsLight
        switch (upper, lower) {
        case (true, true): text += "█"
        case (true, false): text += "▀"
        case (false, true): text += "▄"
        case (false, false): text += " "
        }
      }
      text += after + "\n"
    }
    return text
  }

  private func ascii(_ margin: Int, inkIsLight: Bool) -> String {
    var text = ""
    for row in -margin..<side + margin {
      for column in -margin..<side + margin {
        text += isDark(row: row, column: column) != inkIsLight ? "##" : "  "
      }
      text += "\n"
    }
    return text
  }
}
