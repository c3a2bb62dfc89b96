/// Base 64 with the URL and filename safe alphabet (RFC 4648 section 5), without padding, as in JOSE.
///
/// Decoding is strict, so that bytes have exactly one encoding: padding, white space, other alphabets and unused bits that
/// are not zero are rejected.
public enum Base64URL {
  /// Encodes bytes without padding.
  public static func encode(_ bytes: [UInt8]) -> String {
    SixBitAlphabet.urlSafe.encode(bytes.span, pads: false)
  }

  /// Encodes a secret as a string that cannot be wiped, for output as text only.
  public static func insecureEncode(_ secret: borrowing SecretBytes) -> String {
    secret.withUInt8Span { SixBitAlphabet.urlSafe.encode($0, pads: false) }
  }

  /// Decodes a string.
  public static func decode(_ text: String) throws(EncodingFailure) -> [UInt8] {
    try decode(text.utf8Span.span)
  }

  /// Decodes a text in UTF-8.
  public static func decode(_ text: [UInt8]) throws(EncodingFailure) -> [UInt8] {
    try decode(text.span)
  }

  /// Decodes a span of UTF-8, such as a part of a longer text.
  public static func decode(_ text: Span<UInt8>) throws(EncodingFailure) -> [UInt8] {
    try SixBitAlphabet.urlSafe.decode(text)
  }

  /// Decodes a text with or without padding; `nil` if it is malformed.
  ///
  /// Use it for protocols whose implementations differ in padding and sign or hash the text itself.
  package static func decodePadded(_ text: String) -> [UInt8]? {
    let span = text.utf8Span.span
    var count = span.count
    if count.isMultiple(of: 4) {
      while count > 0, span.count - count < 2, span[count - 1] == UInt8(ascii: "=") { count -= 1 }
    }
    do { return try decode(span.extracting(0..<count)) } catch { return nil }
  }

  /// Decodes a text in UTF-8 to a secret, without another copy of its bytes.
  public static func decodeSecret(_ text: [UInt8]) throws(EncodingFailure) -> SecretBytes {
    let count = try SixBitAlphabet.urlSafe.decodedByteCount(of: text)
    return SecretBytes(byteCount: count) { output in
      for index in 0..<count { output.append(SixBitAlphabet.urlSafe.byte(index, of: text)) }
    }
  }
}

/// Base 64 with the standard alphabet and padding (RFC 4648 section 4), as strict as ``Base64URL``.
public enum Base64 {
  /// Encodes bytes and pads to a multiple of four characters.
  public static func encode(_ bytes: [UInt8]) -> String {
    SixBitAlphabet.standard.encode(bytes.span, pads: true)
  }

  /// Decodes a string with its padding.
  public static func decode(_ text: String) throws(EncodingFailure) -> [UInt8] {
    try decode(Array(text.utf8))
  }

  /// Decodes a text in UTF-8 with its padding.
  public static func decode(_ text: [UInt8]) throws(EncodingFailure) -> [UInt8] {
    guard text.count.isMultiple(of: 4) else { throw .length(text.count) }
    var body = text[...]
    for _ in 0..<2 where body.last == UInt8(ascii: "=") { body.removeLast() }
    let count = try SixBitAlphabet.standard.decodedByteCount(of: Array(body))
    return (0..<count).map { SixBitAlphabet.standard.byte($0, of: text) }
  }

  /// Decodes either alphabet, with or without padding, and ignores white space; `nil` if the text is malformed.
  ///
  /// Use it for formats whose writers differ. For a format with one agreed encoding, use the strict decoders.
  public static func decodeLeniently(_ text: String) -> [UInt8]? {
    var body = text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    for _ in 0..<2 where body.last == UInt8(ascii: "=") { body.removeLast() }
    for index in body.indices {
      if body[index] == UInt8(ascii: "+") { body[index] = UInt8(ascii: "-") }
      if body[index] == UInt8(ascii: "/") { body[index] = UInt8(ascii: "_") }
    }
    do { return try Base64URL.decode(body) } catch { return nil }
  }
}

/// An encoder and decoder for one alphabet of 64 characters.
struct SixBitAlphabet: Sendable {
  static let urlSafe = SixBitAlphabet(last: (UInt8(ascii: "-"), UInt8(ascii: "_")))
  static let standard = SixBitAlphabet(last: (UInt8(ascii: "+"), UInt8(ascii: "/")))

  private let characters: [UInt8]
  /// The value of each of the 256 bytes, or 0xFF for a byte outside the alphabet.
  private let values: [UInt8]
  /// The shifted value of each byte at the four positions of a 24-bit group, as four tables in a row.
  ///
  /// Bit 31 marks a byte outside the alphabet.
  private let groups: [UInt32]

  private init(last: (UInt8, UInt8)) {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    characters = letters + [last.0, last.1]
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, character) in characters.enumerated() { values[Int(character)] = UInt8(value) }
    self.values = values
    groups = (0..<4).flatMap { position in
      values.map { $0 == 0xFF ? 0x8000_0000 : UInt32($0) << UInt32(18 - 6 * position) }
    }
  }

  private func value(_ character: UInt8) -> UInt8 { values[Int(character)] }

  func encode(_ bytes: Span<UInt8>, pads: Bool) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index + 2 < bytes.count {
      let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
      for position in 0..<4 {
        text.append(characters[Int(group >> UInt32(18 - 6 * position) & 0x3F)])
      }
      index += 3
    }
    let rest = bytes.count - index
    if rest > 0 {
      let group = UInt32(bytes[index]) << 16 | (rest == 2 ? UInt32(bytes[index + 1]) << 8 : 0)
      for position in 0...rest {
        text.append(characters[Int(group >> UInt32(18 - 6 * position) & 0x3F)])
      }
      if pads { for _ in rest..<3 { text.append(UInt8(ascii: "=")) } }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Validates a text without padding and returns the number of encoded bytes.
  func decodedByteCount(of text: [UInt8]) throws(EncodingFailure) -> Int {
    let unusedBits: [UInt8?] = [0, nil, 0x0F, 0x03]
    guard let unused = unusedBits[text.count % 4] else { throw .length(text.count) }
    for index in text.indices where value(text[index]) == 0xFF {
      throw .character(offset: index)
    }
    if let last = text.last, value(last) & unused != 0 { throw .trailingBits }
    return text.count * 3 / 4
  }

  /// Decodes a text without padding, four characters at a time, because most texts are long.
  func decode(_ text: Span<UInt8>) throws(EncodingFailure) -> [UInt8] {
    let tail = text.count % 4
    guard tail != 1 else { throw .length(text.count) }
    let whole = text.count - tail
    // All groups are combined, so that one comparison at the end detects an invalid character: only those set bit 31.
    var combined: UInt32 = 0
    var unused: UInt8 = 0
    let groups = self.groups.span
    let capacity = whole / 4 * 3 + max(tail - 1, 0)
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
      var at = 0
      // Unchecked access is safe: `at` + 3 stays below `whole`, each four characters make three bytes, and each of the four
      // tables has an entry for every byte.
      while at < whole {
        let group =
          unsafe (groups[unchecked: Int(text[unchecked: at])]
          | groups[unchecked: 256 &+ Int(text[unchecked: at &+ 1])]
          | groups[unchecked: 512 &+ Int(text[unchecked: at &+ 2])]
          | groups[unchecked: 768 &+ Int(text[unchecked: at &+ 3])])
        combined |= group
        unsafe output[count] = UInt8(truncatingIfNeeded: group &>> 16)
        unsafe output[count &+ 1] = UInt8(truncatingIfNeeded: group &>> 8)
        unsafe output[count &+ 2] = UInt8(truncatingIfNeeded: group)
        at &+= 4
        count &+= 3
      }
      guard tail > 0 else { return }
      let (a, b) = (value(text[at]), value(text[at + 1]))
      let c = tail == 3 ? value(text[at + 2]) : 0
      if (a | b | c) >= 0x80 { combined = 0x8000_0000 }
      unsafe output[count] = a << 2 | b >> 4
      if tail == 3 { unsafe output[count + 1] = b << 4 | c >> 2 }
      count += tail - 1
      unused = tail == 3 ? c & 0x03 : b & 0x0F
    }
    if combined >= 0x8000_0000 {
      for index in text.indices where value(text[index]) == 0xFF { throw .character(offset: index) }
    }
    guard unused == 0 else { throw .trailingBits }
    return bytes
  }

  /// Decodes one byte of a validated text.
  func byte(_ index: Int, of text: [UInt8]) -> UInt8 {
    let position = index / 3 * 4 + index % 3
    let (left, right) = (value(text[position]), value(text[position + 1]))
    return switch index % 3 {
    case 0: left << 2 | right >> 4
    case 1: left << 4 | right >> 2
    default: left << 6 | right
    }
  }
}
