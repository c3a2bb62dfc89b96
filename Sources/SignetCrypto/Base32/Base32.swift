/// Base32 (RFC 4648 section 6), the encoding in which OATH secrets are displayed and typed.
public enum Base32 {
  /// The tolerance of decoding.
  ///
  /// In all modes, letters are case-insensitive and surplus bits after the last whole byte are dropped.
  public enum Mode: Sendable, Hashable, CaseIterable {
    /// Requires the padding of RFC 4648 section 6 and at least one symbol; white space and hyphens around the text are
    /// dropped.
    case strict
    /// Allows missing or surplus padding, and decodes empty text to no bytes.
    ///
    /// White space, hyphens and `=` are dropped around the text and rejected inside it.
    case lenient
    /// Allows typical copying errors.
    ///
    /// White space, hyphens and `=` are skipped anywhere. The digits 0, 1 and 8, which Base32 does not use, are read as the
    /// letters O, L and B.
    case transcribed
  }

  /// The length at and above which text is rejected, in bytes.
  public static let byteCountLimit = 10_000

  /// Encodes in upper case without padding, because other authenticators reject padding in URIs.
  ///
  /// - Parameter bytes: The bytes to encode.
  /// - Returns: 8 symbols for each 5 bytes; the last group may be shorter.
  public static func encode(_ bytes: [UInt8]) -> String {
    var symbols: [UInt8] = []
    symbols.reserveCapacity((bytes.count * 8 + 4) / 5)
    var buffer: UInt32 = 0
    var bitCount = 0
    for byte in bytes {
      buffer = buffer << 8 | UInt32(byte)
      bitCount += 8
      while bitCount >= 5 {
        bitCount -= 5
        symbols.append(symbol(buffer >> UInt32(bitCount)))
      }
    }
    if bitCount > 0 { symbols.append(symbol(buffer << UInt32(5 - bitCount))) }
    return String(decoding: symbols, as: UTF8.self)
  }

  /// Decodes text.
  ///
  /// - Parameters:
  ///   - text: The text, shorter than ``byteCountLimit``.
  ///   - mode: The tolerance of decoding.
  /// - Returns: One byte for each 8 bits; the caller wipes it if it is a secret.
  /// - Throws: ``Base32Failure``, which distinguishes a wrong symbol from a wrong length.
  public static func decode(_ text: String, mode: Mode = .lenient) throws(Base32Failure) -> [UInt8] {
    let text = Array(text.utf8)
    guard text.count < byteCountLimit else { throw .tooLong(byteCount: text.count) }
    let symbols = try symbolRange(text, mode)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(symbols.count * 5 / 8)  // growth would leave a copy of a secret behind
    var buffer: UInt32 = 0
    var bitCount = 0
    for position in symbols {
      guard let value = value(of: text[position], mode) else {
        if mode == .transcribed && isSkipped(text[position]) { continue }
        throw text[position] == padding ? .misplacedPadding(position: position) : .symbol(position: position)
      }
      buffer = buffer << 5 | UInt32(value)
      bitCount += 5
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bitCount)))
      }
    }
    return bytes
  }

  /// Decodes a secret and wipes the intermediate bytes.
  ///
  /// - Parameters:
  ///   - text: The text, shorter than ``byteCountLimit``. A `String` cannot be wiped.
  ///   - mode: The tolerance of decoding.
  /// - Returns: The secret.
  /// - Throws: ``Base32Failure`` if the text is not Base32.
  public static func decodeSecret(_ text: String, mode: Mode = .lenient) throws(Base32Failure) -> SecretBytes
  {
    var bytes = try decode(text, mode: mode)
    defer { unsafe bytes.withUnsafeMutableBytes { unsafe wipe($0) } }
    return SecretBytes(copying: bytes)
  }

  private static let padding = UInt8(ascii: "=")

  /// Returns the range of the text that must consist of symbols.
  private static func symbolRange(_ text: [UInt8], _ mode: Mode) throws(Base32Failure) -> Range<Int> {
    guard mode != .transcribed else { return text.indices }
    let isDropped = { (byte: UInt8) in isSkipped(byte) && (mode == .lenient || byte != padding) }
    guard let first = text.firstIndex(where: { !isDropped($0) }),
      let last = text.lastIndex(where: { !isDropped($0) })
    else {
      if mode == .strict { throw .empty }
      return 0..<0
    }
    guard mode == .strict else { return first..<last + 1 }
    let padded = text[first...last]
    let paddingCount = padded.reversed().prefix { $0 == padding }.count
    // RFC 4648 section 6: padding fills a last group of 2, 4, 5 or 7 symbols to 8.
    guard padded.count % 8 == 0, [0, 1, 3, 4, 6].contains(paddingCount) else {
      throw .length(symbolCount: padded.count)
    }
    return first..<last + 1 - paddingCount
  }

  private static func isSkipped(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"), UInt8(ascii: "-"),
      padding:
      true
    default: false
    }
  }

  private static func symbol(_ value: UInt32) -> UInt8 {
    let value = UInt8(truncatingIfNeeded: value & 31)
    return value < 26 ? UInt8(ascii: "A") + value : UInt8(ascii: "2") + value - 26
  }

  private static func value(of symbol: UInt8, _ mode: Mode) -> UInt8? {
    switch symbol {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): symbol - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): symbol - UInt8(ascii: "a")
    case UInt8(ascii: "2")...UInt8(ascii: "7"): symbol - UInt8(ascii: "2") + 26
    case UInt8(ascii: "0") where mode == .transcribed: 14
    case UInt8(ascii: "1") where mode == .transcribed: 11
    case UInt8(ascii: "8") where mode == .transcribed: 1
    default: nil
    }
  }
}

/// The reasons why a text is not Base32.
///
/// Positions are byte offsets in the text, from 0.
@nonexhaustive public enum Base32Failure: Error, Sendable, Hashable, CustomStringConvertible {
  /// A character is not a symbol: a typing error.
  case symbol(position: Int)
  /// A symbol follows a `=`.
  case misplacedPadding(position: Int)
  /// The length, padding included, is not a multiple of 8, or no group needs that padding: symbols are missing.
  case length(symbolCount: Int)
  /// The text is empty.
  case empty
  /// The text has ``Base32/byteCountLimit`` bytes or more.
  case tooLong(byteCount: Int)

  /// The reason and the position; it never contains the text.
  public var description: String {
    switch self {
    case .symbol(let position): "character \(position + 1) is not one of A-Z and 2-7; check what was typed"
    case .misplacedPadding(let position): "the = at character \(position + 1) is not at the end; remove it"
    case .length(let count):
      "\(count) characters are not whole groups of 8 padded with =; check for missing ones"
    case .empty: "the text is empty; enter the secret"
    case .tooLong(let count): "the text has \(count) bytes; use fewer than \(Base32.byteCountLimit)"
    }
  }
}
