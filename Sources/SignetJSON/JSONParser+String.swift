extension JSONParser {
  /// Parses a string whose opening quote is at `offset` (RFC 8259 section 7).
  mutating func string(_ input: Span<UInt8>) throws(JSONFailure) -> String {
    offset += 1
    let start = offset
    while offset < input.count {
      switch input[offset] {
      case UInt8(ascii: "\""):
        let text = try Self.text(input.extracting(start..<offset), at: start)
        offset += 1
        return text
      case UInt8(ascii: "\\"):
        return try escapedString(input, from: start)
      case 0..<0x20:
        throw .controlCharacter(offset: offset)
      default:
        offset += 1
      }
    }
    throw .unexpectedEnd(offset: offset)
  }

  /// Continues at the first escape of a string that started at `start`.
  private mutating func escapedString(
    _ input: Span<UInt8>, from start: Int
  ) throws(JSONFailure) -> String {
    var bytes: [UInt8] = []
    for index in start..<offset { bytes.append(input[index]) }
    while offset < input.count {
      let byte = input[offset]
      switch byte {
      case UInt8(ascii: "\""):
        let text = try Self.text(bytes.span, at: start)
        offset += 1
        return text
      case UInt8(ascii: "\\"):
        try appendEscape(input, to: &bytes)
      case 0..<0x20:
        throw .controlCharacter(offset: offset)
      default:
        bytes.append(byte)
        offset += 1
      }
    }
    throw .unexpectedEnd(offset: offset)
  }

  private mutating func appendEscape(
    _ input: Span<UInt8>, to bytes: inout [UInt8]
  ) throws(JSONFailure) {
    let escape = offset
    offset += 1
    switch try peek(input) {
    case UInt8(ascii: "\""): bytes.append(0x22)
    case UInt8(ascii: "\\"): bytes.append(0x5C)
    case UInt8(ascii: "/"): bytes.append(0x2F)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "u"):
      offset += 1
      return try appendCodePoint(input, escape: escape, to: &bytes)
    default: throw .invalidEscape(offset: escape)
    }
    offset += 1
  }

  /// Parses the digits of `\uXXXX`, and the second half of a surrogate pair after a high surrogate.
  private mutating func appendCodePoint(
    _ input: Span<UInt8>, escape: Int, to bytes: inout [UInt8]
  ) throws(JSONFailure) {
    var code = try fourHexDigits(input, escape: escape)
    if case 0xD800..<0xDC00 = code {
      guard offset + 1 < input.count, input[offset] == UInt8(ascii: "\\"),
        input[offset + 1] == UInt8(ascii: "u")
      else { throw .loneSurrogate(offset: escape) }
      offset += 2
      let low = try fourHexDigits(input, escape: escape)
      guard case 0xDC00..<0xE000 = low else { throw .loneSurrogate(offset: escape) }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw .loneSurrogate(offset: escape) }
    bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
  }

  private mutating func fourHexDigits(_ input: Span<UInt8>, escape: Int) throws(JSONFailure) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch try peek(input) {
      case let byte where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte): digit = byte - 0x30
      case let byte where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte): digit = byte - 0x57
      case let byte where (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte): digit = byte - 0x37
      default: throw .invalidEscape(offset: escape)
      }
      code = code << 4 | UInt32(digit)
      offset += 1
    }
    return code
  }

  private static func text(_ bytes: Span<UInt8>, at start: Int) throws(JSONFailure) -> String {
    do {
      return String(copying: try UTF8Span(validating: bytes))
    } catch {
      throw .invalidUTF8(offset: start + error.byteOffsets.lowerBound)
    }
  }
}
