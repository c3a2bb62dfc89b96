extension TerminalText {
  /// The maximum number of marks that stay on a character; scripts need two or three.
  static let maximumMarkCount = 4
  /// The maximum number of consecutive spaces that are shown unescaped.
  static let maximumSpaceCount = 16

  /// Makes every character visible that could control a terminal or deceive a reader.
  ///
  /// | in the text | shown |
  /// |---|---|
  /// | C0 controls, DEL | their pictures: ESC is `␛`, a line feed `␊` |
  /// | C1 controls, format characters (overrides, isolates, zero width), separators of lines | `\u{202E}` |
  /// | invisible, unassigned or private characters | `\u{E000}` |
  /// | blanks other than U+0020 | `␣{A0}`, and `␣{A0×12}` for twelve |
  /// | more than 16 spaces | `␣{20×61}` |
  /// | marks without a character, and from the fifth on one character on | `\u{301}`, and `\u{301×1996}` |
  ///
  /// A variation selector-16 is kept after an emoji. The result has one line and is for display only: it cannot be reversed.
  ///
  /// - Parameters:
  ///   - text: Foreign text.
  ///   - limit: The maximum number of characters (grapheme clusters) of the result; `…` marks the cut.
  /// - Returns: Text that is safe to print; sanitising it again does not change it.
  public static func sanitised(_ text: String, limit: Int? = nil) -> String {
    var escaping = Escaping()
    for scalar in text.unicodeScalars {
      // Stop long before the end of a hostile megabyte. A character of the result can have several scalars, but more than 64
      // are not worth processing.
      if let limit, escaping.count > 64 * (limit + 1) { break }
      escaping.add(scalar)
    }
    let output = escaping.finished()
    guard let limit, output.count > limit else { return output }
    return output.prefix(max(limit - 1, 0)) + "…"
  }

  /// Replaces characters outside ASCII in escaped text, for terminals without them.
  static func ascii(_ text: String) -> String {
    var output = ""
    for scalar in text.unicodeScalars {
      if scalar.isASCII { output.unicodeScalars.append(scalar) } else { output += code(of: scalar) }
    }
    return output
  }

  /// The escape of a code point, such as `\u{202E}`.
  static func code(of scalar: Unicode.Scalar) -> String { "\\u{" + hexadecimal(scalar) + "}" }

  private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
    String(scalar.value, radix: 16, uppercase: true)
  }

  private struct Escaping {
    private var output = ""
    /// The number of scalars added so far, without those of an unfinished run.
    private(set) var count = 0
    /// True if a mark would combine with a visible base character.
    private var hasBase = false
    private var marks = 0
    private var previous: Unicode.Scalar?
    /// Equal blanks or marks that are written when their number is known.
    private var run: (scalar: Unicode.Scalar, length: Int)?

    mutating func add(_ scalar: Unicode.Scalar) {
      defer { previous = scalar }
      if let current = run {
        if current.scalar == scalar {
          run?.length += 1
          return
        }
        endRun()
      }
      if scalar.isBlank {
        hasBase = false
        run = (scalar, 1)
      } else if scalar == "\u{FE0F}", let previous, previous.properties.isEmoji,
        marks < TerminalText.maximumMarkCount
      {
        marks += 1
        append(scalar)
      } else if scalar.isInvisible {
        addInvisible(scalar)
        hasBase = false
      } else if scalar.isMark {
        guard hasBase, marks < TerminalText.maximumMarkCount else {
          run = (scalar, 1)
          return
        }
        marks += 1
        append(scalar)
      } else {
        (hasBase, marks) = (true, 0)
        append(scalar)
      }
    }

    mutating func finished() -> String {
      endRun()
      return output
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
      output.unicodeScalars.append(scalar)
      count += 1
    }

    private mutating func append(_ words: String) {
      output += words
      count += words.unicodeScalars.count
    }

    private mutating func addInvisible(_ scalar: Unicode.Scalar) {
      switch scalar.value {
      case 0x00...0x1F: append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
      case 0x7F: append("\u{2421}" as Unicode.Scalar)
      default: append(TerminalText.code(of: scalar))
      }
    }

    private mutating func endRun() {
      guard let (scalar, length) = run else { return }
      run = nil
      if scalar == " ", length <= TerminalText.maximumSpaceCount {
        append(String(repeating: " ", count: length))
        return
      }
      let times = length == 1 ? "" : "×\(length)"
      append((scalar.isBlank ? "␣{" : "\\u{") + TerminalText.hexadecimal(scalar) + times + "}")
    }
  }
}

extension Unicode.Scalar {
  /// True if it is blank on a screen and takes columns.
  var isBlank: Bool {
    switch value {
    // The blank pattern of Braille, a musical null notehead, and two blanks among hieroglyphs are symbols in Unicode.
    case 0x2800, 0x1D159, 0x13441, 0x13442: true
    default: properties.generalCategory == .spaceSeparator
    }
  }

  /// True if it combines with the previous character.
  var isMark: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: false
    }
  }

  /// True if it is, or may be, written from right to left.
  ///
  /// This includes unassigned code points in blocks with that default direction (DerivedBidiClass.txt).
  var isRightToLeft: Bool {
    switch value {
    case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
    default: false
    }
  }

  /// True if it is a digit or another number character.
  var isNumber: Bool {
    switch properties.generalCategory {
    case .decimalNumber, .letterNumber, .otherNumber: true
    default: false
    }
  }
}
