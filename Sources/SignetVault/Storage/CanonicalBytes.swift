/// A sequence of fields in an injective encoding, for bytes that are authenticated and never parsed.
///
/// Each field is its length in 4 bytes, big-endian, and its bytes; a number is a field of 8 bytes, big-endian. The first
/// field is the purpose; it determines the other fields.
package struct CanonicalBytes {
  package private(set) var bytes: [UInt8] = []

  /// Starts with the purpose, which must be unique.
  package init(_ purpose: String) { append(Array(purpose.utf8)) }

  /// Adds a field of bytes, at most 2^32 - 1 of them.
  package mutating func append(_ field: [UInt8]) {
    bytes.append(bigEndian: UInt32(field.count))
    bytes += field
  }

  package mutating func append(_ text: String) { append(Array(text.utf8)) }

  package mutating func append(_ number: Int64) {
    var field: [UInt8] = []
    field.append(bigEndian: UInt64(bitPattern: number))
    append(field)
  }
}

extension [UInt8] {
  /// Adds an integer in big-endian order.
  mutating func append<Integer: FixedWidthInteger>(bigEndian integer: Integer) {
    for shift in stride(from: Integer.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: integer >> Integer(shift)))
    }
  }
}
