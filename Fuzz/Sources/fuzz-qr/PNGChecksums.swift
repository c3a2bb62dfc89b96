/// Repairs the checksums of PNG chunks (ISO/IEC 15948 section 5.5), which would otherwise reject every mutation.
enum PNGChecksums {
  /// Returns the file with a new checksum in each complete chunk.
  static func repaired(_ png: [UInt8]) -> [UInt8] {
    var png = png
    var position = 8
    while position + 12 <= png.count {
      let length = png[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      guard length <= png.count - position - 12 else { break }
      let end = position + 8 + length
      let sum = checksum(png[position + 4..<end])
      for byte in 0..<4 { png[end + byte] = UInt8(truncatingIfNeeded: sum >> UInt32(24 - 8 * byte)) }
      position = end + 4
    }
    return png
  }

  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    ~bytes.reduce(~0) { sum, byte in table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }
}
