/// Hexadecimal encoding (RFC 4648 section 8).
public enum Hex {
  /// Encodes bytes in lower case.
  public static func encode(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 0x0F)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes a string of upper- or lower-case digits; separators and prefixes are rejected.
  public static func decode(_ text: String) throws(EncodingFailure) -> [UInt8] {
    try decode(Array(text.utf8))
  }

  /// Decodes UTF-8 of upper- or lower-case digits; separators and prefixes are rejected.
  public static func decode(_ text: [UInt8]) throws(EncodingFailure) -> [UInt8] {
    guard text.count.isMultiple(of: 2) else { throw .length(text.count) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2)
    for index in stride(from: 0, to: text.count, by: 2) {
      guard let high = value(of: text[index]) else { throw .character(offset: index) }
      guard let low = value(of: text[index + 1]) else { throw .character(offset: index + 1) }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
