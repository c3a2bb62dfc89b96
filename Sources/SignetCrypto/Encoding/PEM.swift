/// The textual encoding of DER (RFC 7468).
enum PEM {
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
}
