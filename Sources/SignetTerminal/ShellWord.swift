import SignetText

/// Text as one word of a command that people copy, which bash, zsh, fish and dash read as the same.
///
/// It is quoted where a shell would read anything else from it. Letters and digits of any script that show as they are stand there
/// as such. A word with anything else is written by its bytes: some terminals show something else in its place, which would be
/// another name. So is one with a backslash, which fish reads within quotes too.
package func shellWord(_ text: String) -> String {
  let isPlain = text.utf8.allSatisfy { byte in
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-_./:@%+,".utf8.contains(byte)
  }
  if isPlain, !text.isEmpty { return text }
  return text.allSatisfy(\.showsInQuotes) ? shellQuoted(text) : ShellLine.word(of: text.utf8)
}

/// Text as one word of a POSIX shell, in quotes.
func shellQuoted(_ text: String) -> String {
  // By code points: a quote with a mark on it is another character, and a quote to the shell.
  var quoted = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    if scalar == "'" { quoted += #"'\''"#.unicodeScalars } else { quoted.append(scalar) }
  }
  return "'\(String(quoted))'"
}

extension Character {
  /// Whether it is one code point that shows as it is, and that each shell reads as it is in single quotes.
  fileprivate var showsInQuotes: Bool {
    guard unicodeScalars.count == 1, let scalar = unicodeScalars.first else { return false }
    return scalar.isASCII
      ? (0x20...0x7E).contains(scalar.value) && scalar != "\\" : scalar.isPlainLetterOrDigit
  }
}
