/// The subset of the Protocol Buffers wire format that messages of numbers and bytes need.
enum ProtocolBuffer {
  enum Value {
    case varint(UInt64)
    case bytes(ArraySlice<UInt8>)
    /// Eight or four bytes; no known field has this type.
    case fixed
  }

  /// A single pass over the fields of a message; it never reads beyond the message.
  struct Reader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Reads the next field; `nil` at the end.
    ///
    /// - Throws: ``InterchangeFailure/invalid(_:reason:)`` for a malformed message.
    mutating func next() throws(InterchangeFailure) -> (number: UInt64, value: Value)? {
      guard !rest.isEmpty else { return nil }
      let key = try varint()
      switch key & 7 {
      case 0: return (key >> 3, .varint(try varint()))
      case 1: return (key >> 3, try fixed(8))
      case 2:
        let count = try varint()
        guard count <= UInt64(rest.count) else { throw Self.malformed }
        defer { rest = rest.dropFirst(Int(count)) }
        return (key >> 3, .bytes(rest.prefix(Int(count))))
      case 5: return (key >> 3, try fixed(4))
      default: throw Self.malformed
      }
    }

    private mutating func fixed(_ count: Int) throws(InterchangeFailure) -> Value {
      guard rest.count >= count else { throw Self.malformed }
      rest = rest.dropFirst(count)
      return .fixed
    }

    private mutating func varint() throws(InterchangeFailure) -> UInt64 {
      var value: UInt64 = 0
      for shift in stride(from: UInt64(0), to: 64, by: 7) {
        guard let byte = rest.popFirst() else { throw Self.malformed }
        if shift == 63, byte > 1 { throw Self.malformed }
        value |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return value }
      }
      throw Self.malformed
    }

    private static let malformed = InterchangeFailure.invalid("data", reason: "is not a message of this kind")
  }

  /// An encoder for the fields of a message.
  struct Writer {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ number: UInt64, _ value: UInt64) {
      guard value != 0 else { return }
      varint(number << 3)
      varint(value)
    }

    mutating func add(_ number: UInt64, _ value: [UInt8]) {
      varint(number << 3 | 2)
      varint(UInt64(value.count))
      bytes += value
    }

    private mutating func varint(_ value: UInt64) {
      var rest = value
      while rest >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(truncatingIfNeeded: rest))
    }
  }
}
