/// The textual encoding of DER (RFC 7468).
package enum PEM {
  /// Encodes DER under a label, with 64 characters per line.
  static func encode(_ der: [UInt8], label: String) -> String {
    var text = "-----BEGIN \(label)-----\n"
    var rest = Base64.encode(der)[...]
    while !rest.isEmpty {
      text += rest.prefix(64) + "\n"
      rest = rest.dropFirst(64)
    }
    return text + "-----END \(label)-----\n"
  }

  /// Decodes a text of at most 64 KiB that is one block with one of these labels; `nil` for any other text.
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
