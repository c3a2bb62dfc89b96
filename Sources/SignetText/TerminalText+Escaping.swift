extension TerminalText {
  /// The most marks that stay on a character; scripts need two or three.
  static let maximumMarkCount = 4
  /// The most spaces in a row that are shown as such.
  static let maximumSpaceCount = 16

  /// Makes every character visible that could steer a terminal or deceive a reader.
  ///
  /// | in the text | shown |
  /// |---|---|
  /// | C0 controls, DEL | their pictures: ESC is `␛`, a line feed `␊` |
  /// | C1 controls, format characters (overrides, isolates, zero width), separators of lines | `\u{202E}` |
  /// | what is invisible, unassigned or private | `\u{E000}` |
  /// | blanks other than U+0020 | `␣{A0}`, and `␣{A0×12}` for twelve |
  /// | more than 16 spaces | `␣{20×61}` |
  /// | marks without a character, and from the fifth on one character on | `\u{301}`, and `\u{301×1996}` |
  ///
  /// A variation selector-16 is kept after an emoji. The result has one line and is for display only: it cannot be turned back.
  ///
  /// - Parameters:
  ///   - text: What somebody else wrote.
  ///   - limit: The most characters (grapheme clusters) of the result; what is cut is shown by `…`.
  /// - Returns: Text that is safe to print, and the same once more if it is sanitised once more.
  public static func sanitised(_ text: String, limit: Int? = nil) -> String {
    var escaping = Escaping()
    for scalar in text.unicodeScalars {
      // Long before a hostile megabyte is through, enough has been seen: a character of the result can take
      // several scalars, but one of more than 64 is not worth waiting for.
      if let limit, escaping.count > 64 * (limit + 1) { break }
      escaping.add(scalar)
    }
    let output = escaping.finished()
    guard let limit, output.count > limit else { return output }
    return output.prefix(max(limit - 1, 0)) + "…"
  }

  /// Escaped text without a character beyond ASCII, for terminals that have no others.
  static func ascii(_ text: String) -> String {
    var output = ""
    for scalar in text.unicodeScalars {
      if scalar.isASCII { output.unicodeScalars.append(scalar) } else { output += code(of: scalar) }
    }
    return output
  }

  /// `\u{202E}` and the like.
  static func code(of scalar: Unicode.Scalar) -> String { "\\u{" + hexadecimal(scalar) + "}" }

  private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
    String(scalar.value, radix: 16, uppercase: true)
  }

  private struct Escaping {
    private var output = ""
    /// The scalars added so far, but for those of a run that goes on.
    private(set) var count = 0
    /// What a mark would stand on: something that is shown as itself.
    private var hasBase = false
    private var marks = 0
    private var previous: Unicode.Scalar?
    /// Equal blanks or marks that are written once it is known how many there are.
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
  /// Whether it is blank on a screen, and takes columns.
  var isBlank: Bool {
    switch value {
    // The blank pattern of Braille, a musical null notehead, and two blanks among hieroglyphs are symbols to Unicode.
    case 0x2800, 0x1D159, 0x13441, 0x13442: true
    default: properties.generalCategory == .spaceSeparator
    }
  }

  /// Whether it is drawn on the character before.
  var isMark: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: false
    }
  }

  /// Whether it is written from right to left, or may be: the blocks to which Unicode gives that direction also where they are
  /// not assigned yet (DerivedBidiClass.txt).
  var isRightToLeft: Bool {
    switch value {
    case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
    default: false
    }
  }

  /// Whether it is a digit, or stands for a number.
  var isNumber: Bool {
    switch properties.generalCategory {
    case .decimalNumber, .letterNumber, .otherNumber: true
    default: false
    }
  }
}
