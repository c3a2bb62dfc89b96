/// Text as one word of a command that people copy: quoted where a POSIX shell would read anything else from it.
package func shellWord(_ text: String) -> String {
  let isPlain = text.utf8.allSatisfy { byte in
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-_./:@%+,".utf8.contains(byte)
  }
  return isPlain && !text.isEmpty ? text : shellQuoted(text)
}

/// Text as one word of a POSIX shell, in quotes.
func shellQuoted(_ text: String) -> String {
  "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
}
