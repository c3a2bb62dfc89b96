/// Commands in shell syntax.
package enum ShellLine {
  /// Writes a word by its bytes, in ASCII; letters, digits, full stops, slashes and underscores are not escaped.
  ///
  /// Bash, zsh, fish (3.4) and dash read it identically. A word that ends with a line feed works in bash and zsh only,
  /// because a command substitution would drop the line feed.
  ///
  /// - Parameter bytes: The word.
  /// - Returns: The word in shell syntax.
  package static func word(of bytes: some BidirectionalCollection<UInt8>) -> String {
    let text = bytes.map(escaped).joined()
    return bytes.last == 0x0A ? "$'\(text)'" : "\"$(printf '\(text)')\""
  }

  /// Always three octal digits, because the next byte may be a digit; no shell then interprets them as part of a format.
  private static func escaped(_ byte: UInt8) -> String {
    switch byte {
    case 0x2E...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: return String(Unicode.Scalar(byte))
    default: break
    }
    let digits = String(byte, radix: 8)
    return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
  }

  /// Rewrites a command for an ASCII terminal: other characters are written by their bytes.
  static func ascii(_ command: String) -> String {
    var (line, bytes, isQuoted, isEscaped) = ("", [UInt8](), false, false)
    func end() {
      guard !bytes.isEmpty else { return }
      let word = word(of: bytes)
      line += isQuoted ? "'\(word)'" : word
      bytes = []
    }
    for scalar in command.unicodeScalars {
      guard scalar.isASCII else {
        bytes += Array(String(scalar).utf8)
        continue
      }
      end()
      line.unicodeScalars.append(scalar)
      if scalar == "'", !isEscaped { isQuoted.toggle() }
      isEscaped = scalar == "\\" && !isQuoted && !isEscaped
    }
    end()
    return line
  }

  /// Splits a command into lines that a shell reads as one: each line except the last ends with a backslash.
  ///
  /// - Parameters:
  ///   - command: One line.
  ///   - width: The maximum columns of a line; a longer word gets its own line.
  /// - Returns: At least one line.
  static func lines(of command: String, width: Int) -> [String] {
    var lines: [String] = []
    for word in words(of: command) {
      if let last = lines.last, TerminalText.widest(last) + 1 + TerminalText.widest(word) <= width - 2 {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(word)
      }
    }
    return lines.isEmpty ? [command] : lines.dropLast().map { $0 + " \\" } + lines.suffix(1)
  }

  /// The words with their quotes; quoted or escaped spaces do not separate words.
  private static func words(of command: String) -> [String] {
    var (words, isQuoted, isEscaped) = ([String.UnicodeScalarView()], false, false)
    for scalar in command.unicodeScalars {
      if scalar == " ", !isQuoted, !isEscaped {
        words.append(String.UnicodeScalarView())
        continue
      }
      words[words.count - 1].append(scalar)
      if scalar == "'", !isEscaped { isQuoted.toggle() }
      isEscaped = scalar == "\\" && !isQuoted && !isEscaped
    }
    return words.filter { !$0.isEmpty }.map { String($0) }
  }
}
