/// The textual encoding of DER (RFC 7468).
package enum PEM {
  /// `der` between the lines of `label`, 64 characters a line.
  static func encode(_ der: [UInt8], label: String) -> String {
    var text = "-----BEGIN \(label)-----\n"
    var rest = Base64.encode(der)[...]
    while !rest.isEmpty {
      text += rest.prefix(64) + "\n"
      rest = rest.dropFirst(64)
    }
    return text + "-----END \(label)-----\n"
  }

  /// The bytes of a text that is one block with one of some labels, at most 64 KiB; nil for anything else.
  package static func decode(_ text: String, labels: [String]) -> [UInt8]? {
    guard text.utf8.count <= 65_536 else { return nil }
    let lines = text.split(whereSeparator: \.isNewline)
    guard lines.count > 2,
      let label = labels.first(where: { lines.first == "-----BEGIN \($0)-----" }),
      lines.last == "-----END \(label)-----"
    else { return nil }
    do { return try Base64.decode(lines.dropFirst().dropLast().joined()) } catch { return nil }
  }
}
