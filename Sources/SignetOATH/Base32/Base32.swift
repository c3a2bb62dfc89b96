public import SignetCrypto

/// Base32 (RFC 4648 section 6), the form in which OATH secrets are shown and typed.
public enum Base32 {
  /// How forgiving decoding is.
  ///
  /// Letters are read in either case in all modes, and bits left over after the last
  /// whole byte are dropped.
  public enum Mode: Sendable, Hashable, CaseIterable {
    /// Padded as RFC 4648 section 6 requires, and not empty. White space and hyphens around the text are dropped.
    case strict
    /// Padding may be missing or too long. White space, hyphens and `=` around the text are dropped, inside it
    /// refused. Empty text is empty bytes.
    case lenient
    /// What a person copies from a screen or a letter: white space, hyphens and `=` are skipped anywhere, and
    /// the digits 0, 1 and 8, which Base32 does not have, are read as the letters O, L and B.
    case transcribed
  }

  /// Text of so many bytes or more is refused.
  public static let byteCountLimit = 10_000

  /// Encodes in upper case without padding, which other authenticators refuse in URIs.
  ///
  /// - Parameter bytes: What to encode.
  /// - Returns: 8 symbols for each 5 bytes, the last group shorter.
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
  ///   - mode: How forgiving to be.
  /// - Returns: One byte for each 8 bits; the caller wipes it if it is a secret.
  /// - Throws: ``Base32Failure``, which tells a wrong symbol from a wrong length.
  public static func decode(_ text: String, mode: Mode = .lenient) throws(Base32Failure) -> [UInt8] {
    let text = Array(text.utf8)
    guard text.count < byteCountLimit else { throw .tooLong(byteCount: text.count) }
    let symbols = try symbolRange(text, mode)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(symbols.count * 5 / 8)  // no growth, so no copy of a secret is left behind
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

  /// Decodes a secret, and wipes the bytes it passed through.
  ///
  /// - Parameters:
  ///   - text: The text, shorter than ``byteCountLimit``. A `String` cannot be wiped.
  ///   - mode: How forgiving to be.
  /// - Returns: The secret.
  /// - Throws: ``Base32Failure``.
  public static func decodeSecret(_ text: String, mode: Mode = .lenient) throws(Base32Failure) -> SecretBytes
  {
    var bytes = try decode(text, mode: mode)
    defer { bytes.withUnsafeMutableBytes { wipe($0) } }
    return SecretBytes(copying: bytes)
  }

  private static let padding = UInt8(ascii: "=")

  /// The part of the text that must be symbols.
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
    // RFC 4648 section 6: a last group of 2, 4, 5 or 7 symbols is filled to 8.
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

/// Why a text is not Base32.
///
/// Positions count bytes of the text, from 0.
@nonexhaustive public enum Base32Failure: Error, Sendable, Hashable, CustomStringConvertible {
  /// A character that is no symbol: a typing error.
  case symbol(position: Int)
  /// A `=` with symbols after it.
  case misplacedPadding(position: Int)
  /// Not a whole number of groups of 8, padding included, or padding that no length needs: something is missing.
  case length(symbolCount: Int)
  /// Nothing in it.
  case empty
  /// As long as ``Base32/byteCountLimit`` or longer.
  case tooLong(byteCount: Int)

  /// What is wrong and where; never the text.
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
