/// A command as a POSIX shell reads it.
enum ShellLine {
  /// A command in lines that a shell reads as one: each but the last ends with a backslash.
  ///
  /// - Parameters:
  ///   - command: One line.
  ///   - width: The most columns of a line; a word that is longer has a line of its own.
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

  /// The words with their quotes: what stands in quotes, or behind a backslash, is not parted.
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
