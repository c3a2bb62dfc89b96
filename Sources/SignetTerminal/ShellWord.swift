import SignetSystem

/// Quotes text as one word of a shell command to copy, with the same meaning in bash, zsh, fish and dash.
///
/// The word is quoted if a shell would otherwise change it. Letters and digits of any script that display unambiguously stay
/// as they are. A word with other characters is written as escaped bytes, because some terminals would display another name.
/// So is a word with a backslash, which fish interprets inside quotes too.
package func shellWord(_ text: String) -> String {
  let isPlain = text.utf8.allSatisfy { byte in
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-_./:@%+,".utf8.contains(byte)
  }
  if isPlain, !text.isEmpty { return text }
  return text.allSatisfy(\.showsInQuotes) ? shellQuoted(text) : ShellLine.word(of: text.utf8)
}

/// Quotes text as one word of a POSIX shell.
func shellQuoted(_ text: String) -> String {
  // By code points: a quote with a combining mark is another Swift character, but still a quote for the shell.
  var quoted = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    if scalar == "'" { quoted += #"'\''"#.unicodeScalars } else { quoted.append(scalar) }
  }
  return "'\(String(quoted))'"
}

extension Character {
  /// True if it is one code point that displays as itself, and that no shell interprets in single quotes.
  fileprivate var showsInQuotes: Bool {
    guard unicodeScalars.count == 1, let scalar = unicodeScalars.first else { return false }
    return scalar.isASCII
      ? (0x20...0x7E).contains(scalar.value) && scalar != "\\" : scalar.isPlainLetterOrDigit
  }
}
