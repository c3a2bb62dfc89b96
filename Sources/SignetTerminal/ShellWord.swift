/// Text as one word of a command that people copy: quoted where a POSIX shell would read anything else from it.
///
/// What is not ASCII, or does not show, is written by its bytes, in the quotes that POSIX has since 2024, and bash and zsh before: some
/// terminals show something else in its place, which would be another name.
package func shellWord(_ text: String) -> String {
  let isPlain = text.utf8.allSatisfy { byte in
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-_./:@%+,".utf8.contains(byte)
  }
  if isPlain, !text.isEmpty { return text }
  return text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    ? shellQuoted(text) : "$'\(text.utf8.map(escaped).joined())'"
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

/// A byte within `$'…'`; always three octal digits, for what follows might be another one.
private func escaped(_ byte: UInt8) -> String {
  if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "'"), byte != UInt8(ascii: "\\") {
    return String(UnicodeScalar(byte))
  }
  let digits = String(byte, radix: 8)
  return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
}
