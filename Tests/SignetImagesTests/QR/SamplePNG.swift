import SignetImages

/// PNG files made by hand, so that tests control every byte.
///
/// Pixel data is deflated with stored blocks (RFC 1951 section 3.2.4): readable, and independent of libpng.
enum SamplePNG {
  /// A PNG from raw rows; each row is preceded by its filter byte 0.
  static func file(
    width: Int, height: Int, bitDepth: UInt8 = 8, colourType: UInt8 = 0, extra: [[UInt8]] = [],
    rows: [[UInt8]]
  ) -> [UInt8] {
    let header = bigEndian(width) + bigEndian(height) + [bitDepth, colourType, 0, 0, 0]
    return signature + chunk("IHDR", header) + extra.flatMap { $0 }
      + chunk("IDAT", zlib(rows.flatMap { [0] + $0 })) + chunk("IEND", [])
  }

  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// The grey rows of codes next to each other, `moduleSize` pixels for a module, with quiet zones of 4 modules.
  static func greyRows(_ codes: [QRCode], moduleSize: Int = 4, dark: UInt8 = 0, light: UInt8 = 255)
    -> [[UInt8]]
  {
    let side = codes.map(\.side).max() ?? 0
    return (-4..<side + 4).flatMap { row in
      let pixels = codes.flatMap { code in
        (-4..<side + 4).flatMap { column in
          [UInt8](repeating: code.isDark(row: row, column: column) ? dark : light, count: moduleSize)
        }
      }
      return [[UInt8]](repeating: pixels, count: moduleSize)
    }
  }

  static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + data
    return bigEndian(data.count) + body + bigEndian(Int(crc32(body)))
  }

  static func bigEndian(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// The zlib format with stored blocks (RFC 1950).
  static func zlib(_ bytes: [UInt8]) -> [UInt8] {
    var output: [UInt8] = [0x78, 0x01]
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(65535)
      rest = rest.dropFirst(block.count)
      let length = UInt16(block.count)
      output += [rest.isEmpty ? 1 : 0]
      output += [UInt8(length & 0xFF), UInt8(length >> 8), UInt8(~length & 0xFF), UInt8(~length >> 8)]
      output += block
    } while !rest.isEmpty
    var a: UInt32 = 1
    var b: UInt32 = 0
    for byte in bytes {
      a = (a + UInt32(byte)) % 65521
      b = (b + a) % 65521
    }
    return output + bigEndian(Int(b << 16 | a))
  }

  /// The CRC of ISO/IEC 15948 annex D.
  static func crc32(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { crc, byte in table[Int((crc ^ UInt32(byte)) & 0xFF)] ^ crc >> 8 }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }
}
