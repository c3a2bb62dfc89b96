/// Crockford's Base32, for codes that people read out and type: no letter looks like a digit, and a check symbol
/// finds every single wrong symbol and every swap of two neighbours.
///
/// The bytes are one big-endian number, written with as many symbols of 5 bits as their bits need, zeros in front
/// (https://www.crockford.com/base32.html). The check symbol is that number modulo 37.
public enum CrockfordBase32 {
  /// The number of symbols for so many bytes, check symbol and hyphens not counted.
  public static func symbolCount(forByteCount byteCount: Int) -> Int { (byteCount * 8 + 4) / 5 }

  /// Encodes in upper case.
  ///
  /// - Parameters:
  ///   - bytes: What to encode.
  ///   - withCheckSymbol: Whether a check symbol follows.
  ///   - groupSize: How many symbols stand between hyphens; 0 writes no hyphens.
  /// - Returns: The symbols, the check symbol last.
  public static func encode(_ bytes: [UInt8], withCheckSymbol: Bool, groupSize: Int = 0) -> String {
    let symbolCount = symbolCount(forByteCount: bytes.count)
    var symbols: [UInt8] = []
    symbols.reserveCapacity(symbolCount + 1)
    var buffer: UInt32 = 0
    var bitCount = symbolCount * 5 - bytes.count * 8  // zeros in front of the number
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

  /// Decodes what a person typed: case does not matter, O is 0, I and L are 1, hyphens and spaces are skipped.
  ///
  /// - Parameters:
  ///   - text: The symbols.
  ///   - byteCount: How many bytes they stand for.
  ///   - withCheckSymbol: Whether the last symbol is a check symbol.
  /// - Returns: The bytes; the caller wipes them if they are a secret.
  /// - Throws: ``CrockfordBase32Failure``, which tells a typing error from a wrong length.
  public static func decode(
    _ text: String, byteCount: Int, withCheckSymbol: Bool
  ) throws(CrockfordBase32Failure) -> [UInt8] {
    let expected = symbolCount(forByteCount: byteCount) + (withCheckSymbol ? 1 : 0)
    // Four characters a symbol leave room for every grouping; beyond, nobody typed it.
    guard text.utf8.count <= 4 * expected + 16 else {
      throw .length(expected: expected, actual: text.utf8.count)
    }
    let (values, positions) = try values(text)
    guard values.count == expected else { throw .length(expected: expected, actual: values.count) }
    for (index, value) in values.enumerated() where value >= 32 && !(withCheckSymbol && index == expected - 1)
    {
      throw .symbol(position: positions[index])  // stands for a check only
    }
    let symbols = values.prefix(symbolCount(forByteCount: byteCount))
    let surplus = symbols.count * 5 - byteCount * 8  // bits of the first symbol that no byte has
    if let first = symbols.first, first >> UInt8(5 - surplus) != 0 { throw .tooLarge }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    var buffer: UInt32 = 0
    var bitCount = -surplus
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

  /// The values of the symbols and where they stand, hyphens and spaces left out.
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

/// Why a text is not Crockford's Base32.
///
/// Positions count bytes of the text, from 0.
@nonexhaustive public enum CrockfordBase32Failure: Error, Sendable, Hashable, CustomStringConvertible {
  /// A character that is no symbol: a typing error.
  case symbol(position: Int)
  /// Too few or too many symbols: something is missing or was typed twice.
  case length(expected: Int, actual: Int)
  /// The check symbol does not fit: a typing error that made another symbol.
  case checkSymbol
  /// The number is larger than the bytes can hold: a typing error in the first symbol.
  case tooLarge

  /// What is wrong and what to do; never the text.
  public var description: String {
    switch self {
    case .symbol(let position): "character \(position + 1) does not occur in codes; check what was typed"
    case .length(let expected, let actual): "the code has \(expected) characters, \(actual) were typed"
    case .checkSymbol: "the code has a typing error; compare each character"
    case .tooLarge: "the first character is wrong; check what was typed"
    }
  }
}
