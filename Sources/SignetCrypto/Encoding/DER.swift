/// A strict parser for the few DER structures of keys and signatures (ITU-T X.690 section 10).
///
/// Every structure has one encoding: lengths are definite and minimal, and integers are minimal.
struct DERReader {
  private let bytes: [UInt8]
  private var position: Int
  private let end: Int

  struct Refusal: Error {}

  enum Tag: UInt8 {
    case integer = 0x02
    case bitString = 0x03
    case sequence = 0x30
  }

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    position = 0
    end = bytes.count
  }

  private init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
  }

  /// Rejects trailing bytes.
  func finish() throws(Refusal) {
    guard position == end else { throw Refusal() }
  }

  /// Reads a sequence and returns a reader of its elements.
  mutating func readSequence() throws(Refusal) -> DERReader {
    DERReader(bytes, try readElement(.sequence))
  }

  /// Reads a bit string of whole bytes and returns a reader of its content.
  mutating func readBitString() throws(Refusal) -> DERReader {
    let range = try readElement(.bitString)
    guard let first = range.first, bytes[first] == 0 else { throw Refusal() }
    return DERReader(bytes, range.dropFirst())
  }

  /// Reads a non-negative integer as big-endian bytes without leading zeros; zero has no bytes.
  mutating func readUnsignedInteger() throws(Refusal) -> [UInt8] {
    let content = bytes[try readElement(.integer)]
    guard let first = content.first, first < 0x80 else { throw Refusal() }
    guard first == 0 else { return Array(content) }
    let rest = content.dropFirst()
    guard let second = rest.first else { return [] }
    guard second >= 0x80 else { throw Refusal() }
    return Array(rest)
  }

  /// Skips these bytes; rejects any other.
  mutating func expect(_ literal: [UInt8]) throws(Refusal) {
    guard end - position >= literal.count, bytes[position..<(position + literal.count)].elementsEqual(literal)
    else { throw Refusal() }
    position += literal.count
  }

  private mutating func readByte() throws(Refusal) -> UInt8 {
    guard position < end else { throw Refusal() }
    defer { position += 1 }
    return bytes[position]
  }

  private mutating func readElement(_ tag: Tag) throws(Refusal) -> Range<Int> {
    guard try readByte() == tag.rawValue else { throw Refusal() }
    var count = Int(try readByte())
    switch count {
    case ..<0x80: break
    case 0x81:
      count = Int(try readByte())
      guard count >= 0x80 else { throw Refusal() }
    case 0x82:
      count = Int(try readByte()) << 8
      count |= Int(try readByte())
      guard count >= 0x100 else { throw Refusal() }
    default: throw Refusal()  // indefinite, or too long for a key
    }
    guard count <= end - position else { throw Refusal() }
    defer { position += count }
    return position..<(position + count)
  }
}

/// An encoder for the few DER structures that this module writes.
enum DERWriter {
  /// Encodes an element of at most 65,535 bytes.
  static func element(_ tag: DERReader.Tag, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    precondition(count <= 0xFFFF, "no key or signature has \(count) bytes")
    let length: [UInt8] =
      switch count {
      case ..<0x80: [UInt8(count)]
      case ..<0x100: [0x81, UInt8(count)]
      default: [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
      }
    return [tag.rawValue] + length + content
  }

  /// Encodes a non-negative integer from big-endian bytes.
  static func unsignedInteger(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let digits = bytes.drop { $0 == 0 }
    let needsZero = (digits.first ?? 0x80) >= 0x80  // zero itself is one zero byte
    return element(.integer, (needsZero ? [0] : []) + digits)
  }

  /// Encodes a sequence of at most three 32-byte integers in one allocation: each signature verification needs one.
  static func sequence(ofNumbersIn bytes: [UInt8]) -> [UInt8] {
    precondition(bytes.count <= 96, "the length of \(bytes.count) bytes of numbers does not fit one byte")
    var der: [UInt8] = []
    der.reserveCapacity(2 + bytes.count / 32 * 35)
    der.append(DERReader.Tag.sequence.rawValue)
    der.append(0)
    for start in stride(from: 0, to: bytes.count, by: 32) {
      let end = start + 32
      var first = start
      while first < end, bytes[first] == 0 { first += 1 }
      let needsZero = first == end || bytes[first] >= 0x80  // zero itself is one zero byte
      der.append(DERReader.Tag.integer.rawValue)
      der.append(UInt8(end - first + (needsZero ? 1 : 0)))
      if needsZero { der.append(0) }
      der.append(contentsOf: bytes[first..<end])
    }
    der[1] = UInt8(der.count - 2)
    return der
  }
}
