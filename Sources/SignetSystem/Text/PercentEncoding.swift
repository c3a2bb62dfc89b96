/// Percent-encoding of URIs (RFC 3986 section 2.1).
package enum PercentEncoding {
  /// Escapes every byte except the unreserved characters.
  package static func encode(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
      default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns true if a text can be a path segment: it is not empty, and not `.` or `..`.
  ///
  /// Escaped or not, `.` and `..` mean folders (RFC 3986 section 5.2.4).
  package static func isSegment(_ text: String) -> Bool { !text.isEmpty && text != "." && text != ".." }
}
