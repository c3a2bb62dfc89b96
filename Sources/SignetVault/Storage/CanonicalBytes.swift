/// Fields written one after the other so that different fields never give the same bytes.
///
/// Each field is its length in 4 bytes, big-endian, and its bytes; a number is a field of 8 bytes, big-endian. The first field
/// says what the others are. Used where bytes are authenticated and never parsed.
package struct CanonicalBytes {
  package private(set) var bytes: [UInt8] = []

  /// Starts with the purpose, which no other purpose begins with.
  package init(_ purpose: String) { append(Array(purpose.utf8)) }

  /// Adds a field of bytes, at most 2^32 - 1 of them.
  package mutating func append(_ field: [UInt8]) {
    bytes.append(bigEndian: UInt32(field.count))
    bytes += field
  }

  /// Adds a text as UTF-8.
  package mutating func append(_ text: String) { append(Array(text.utf8)) }

  /// Adds a number.
  package mutating func append(_ number: Int64) {
    var field: [UInt8] = []
    field.append(bigEndian: UInt64(bitPattern: number))
    append(field)
  }
}

extension [UInt8] {
  /// Adds an integer, the highest byte first.
  mutating func append<Integer: FixedWidthInteger>(bigEndian integer: Integer) {
    for shift in stride(from: Integer.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: integer >> Integer(shift)))
    }
  }
}
