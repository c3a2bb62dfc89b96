/// Crockford's Base32 for codes that people read out and type (https://www.crockford.com/base32.html).
///
/// No letter looks like a digit. The optional check symbol detects every single wrong symbol and every swap of two
/// neighbors.
///
/// The bytes are one big-endian number, written with the least number of 5-bit symbols that holds all bits, with leading
/// zeros. The check symbol is that number modulo 37.
public enum CrockfordBase32 {
  /// Returns the number of symbols for this number of bytes, without check symbol and hyphens.
  public static func symbolCount(forByteCount byteCount: Int) -> Int { (byteCount * 8 + 4) / 5 }

  /// Encodes in upper case.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to encode.
  ///   - withCheckSymbol: True to append a check symbol.
  ///   - groupSize: The number of symbols between hyphens; 0 for no hyphens.
  /// - Returns: The symbols; the check symbol is last.
  public static func encode(_ bytes: [UInt8], withCheckSymbol: Bool, groupSize: Int = 0) -> String {
    let symbolCount = symbolCount(forByteCount: bytes.count)
    var symbols: [UInt8] = []
    symbols.reserveCapacity(symbolCount + 1)
    var buffer: UInt32 = 0
    var bitCount = symbolCount * 5 - bytes.count * 8  // leading zero bits
    for byte in bytes {
      buffer = (buffer & 0x1F) << 8 | UInt32(byte)
      bitCount += 8
      while bitCount >= 5 {
        bitCount -= 5
        symbols.append(alphabet[Int(buffer >> UInt32(bitCount)) & 31])
      }
    }
    if withCheckSymbol { symbols.append(alphabet[remainder(of: bytes)]) }
    guard groupSize > 0 else { return String(decoding: symbols, as: UTF8.self) }
    var grouped: [UInt8] = []
    for (index, symbol) in symbols.enumerated() {
      if index > 0 && index % groupSize == 0 { grouped.append(UInt8(ascii: "-")) }
      grouped.append(symbol)
    }
    return String(decoding: grouped, as: UTF8.self)
  }

  /// Decodes typed text: case is ignored, O is 0, I and L are 1, hyphens and spaces are skipped.
  ///
  /// - Parameters:
  ///   - text: The symbols.
  ///   - byteCount: The number of encoded bytes.
  ///   - withCheckSymbol: True if the last symbol is a check symbol.
  /// - Returns: The bytes; the caller wipes them if they are a secret.
  /// - Throws: ``CrockfordBase32Failure``, which distinguishes a typing error from a wrong length.
  public static func decode(
    _ text: String, byteCount: Int, withCheckSymbol: Bool
  ) throws(CrockfordBase32Failure) -> [UInt8] {
    let expected = symbolCount(forByteCount: byteCount) + (withCheckSymbol ? 1 : 0)
    // Four characters for each symbol allow every grouping; longer text is no typed code.
    guard text.utf8.count <= 4 * expected + 16 else {
      throw .length(expected: expected, actual: text.utf8.count)
    }
    let (values, positions) = try values(text)
    guard values.count == expected else { throw .length(expected: expected, actual: values.count) }
    for (index, value) in values.enumerated() where value >= 32 && !(withCheckSymbol && index == expected - 1)
    {
      throw .symbol(position: positions[index])  // valid as a check symbol only
    }
    let symbols = values.prefix(symbolCount(forByteCount: byteCount))
    let unusedBitCount = symbols.count * 5 - byteCount * 8  // unused high bits of the first symbol
    if let first = symbols.first, first >> UInt8(5 - unusedBitCount) != 0 { throw .tooLarge }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    var buffer: UInt32 = 0
    var bitCount = -unusedBitCount
    for symbol in symbols {
      buffer = (buffer & 0xFF) << 5 | UInt32(symbol)
      bitCount += 5
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bitCount)))
      }
    }
    if withCheckSymbol, let check = values.last, Int(check) != remainder(of: bytes) { throw .checkSymbol }
    return bytes
  }

  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U".utf8)

  private static func remainder(of bytes: [UInt8]) -> Int {
    bytes.reduce(0) { (Int($0) * 256 + Int($1)) % 37 }
  }

  /// Returns the values of the symbols and their byte offsets; hyphens and spaces are skipped.
  private static func values(
    _ text: String
  ) throws(CrockfordBase32Failure) -> (values: [UInt8], positions: [Int]) {
    var values: [UInt8] = []
    var positions: [Int] = []
    for (position, byte) in text.utf8.enumerated()
    where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
      guard let value = value(of: byte) else { throw .symbol(position: position) }
      values.append(value)
      positions.append(position)
    }
    return (values, positions)
  }

  private static func value(of symbol: UInt8) -> UInt8? {
    let upper = UInt8(ascii: "a")...UInt8(ascii: "z") ~= symbol ? symbol - 0x20 : symbol
    switch upper {
    case UInt8(ascii: "O"): return 0
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
    default: return alphabet.firstIndex(of: upper).map { UInt8($0) }
    }
  }
}

/// The reasons why a text is not Crockford's Base32.
///
/// Positions are byte offsets in the text, from 0.
@nonexhaustive public enum CrockfordBase32Failure: Error, Sendable, Hashable, CustomStringConvertible {
  /// A character is not a symbol: a typing error.
  case symbol(position: Int)
  /// The number of symbols is wrong: some are missing or were typed twice.
  case length(expected: Int, actual: Int)
  /// The check symbol does not match: a symbol was replaced by another one.
  case checkSymbol
  /// The number is larger than the bytes can hold: a typing error in the first symbol.
  case tooLarge

  /// The reason and what to do about it; it never contains the text.
  public var description: String {
    switch self {
    case .symbol(let position): "character \(position + 1) does not occur in codes; check what was typed"
    case .length(let expected, let actual): "the code has \(expected) characters, \(actual) were typed"
    case .checkSymbol: "the code has a typing error; compare each character"
    case .tooLarge: "the first character is wrong; check what was typed"
    }
  }
}
