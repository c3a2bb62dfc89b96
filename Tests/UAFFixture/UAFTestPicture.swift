package import SignetUAF

/// Pictures as PNG files, written chunk by chunk, so that they can have an error in one place.
package struct UAFTestPicture: Sendable {
  /// A chunk: its name and its data.
  package typealias Chunk = (name: String, data: [UInt8])

  package var width: UInt32
  package var height: UInt32
  package var bitDepth: UInt8 = 8
  package var colourType: UInt8
  package var interlace: UInt8 = 0
  package var palette: [UInt8] = []
  /// Changes the chunks before they are written.
  package var edit: @Sendable (inout [Chunk]) -> Void = { _ in }
  /// The bytes after the end.
  package var trailing: [UInt8] = []

  /// A picture of one grey value, or one color.
  package init(_ width: UInt32, _ height: UInt32, colourType: UInt8 = 0) {
    (self.width, self.height, self.colourType) = (width, height, colourType)
  }

  /// Its characteristics.
  package var characteristics: DisplayPNGCharacteristics {
    DisplayPNGCharacteristics(
      width: width, height: height, bitDepth: bitDepth, colourType: colourType, interlace: interlace,
      palette: colourType == 3
        ? stride(from: 0, to: palette.count - palette.count % 3, by: 3).map {
          .init(red: UInt16(palette[$0]), green: UInt16(palette[$0 + 1]), blue: UInt16(palette[$0 + 2]))
        } : [])
  }

  /// The file.
  package var bytes: [UInt8] {
    let samples = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][Int(colourType)] ?? 1
    let row = (Int(width) * samples * Int(bitDepth) + 7) / 8
    let line = [0] + [UInt8](repeating: colourType == 3 ? 0 : 0x80, count: row)
    let rows = [[UInt8]](repeating: line, count: Int(height)).flatMap { $0 }
    var chunks: [Chunk] = [
      ("IHDR", Self.number(width) + Self.number(height) + [bitDepth, colourType, 0, 0, interlace])
    ]
    if !palette.isEmpty { chunks.append(("PLTE", palette)) }
    chunks += [("IDAT", Self.zlib(rows)), ("IEND", [])]
    edit(&chunks)
    var written: [UInt8] = []
    for chunk in chunks {
      let content = Array(chunk.name.utf8) + chunk.data
      written += Self.number(UInt32(chunk.data.count)) + content + Self.number(Self.crc(content))
    }
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + written + trailing
  }

  /// A transaction with it and its stated characteristics.
  package func transaction(saying characteristics: DisplayPNGCharacteristics? = nil) -> UAFTransaction? {
    UAFTransaction(
      contentType: .png, content: bytes, pngCharacteristics: characteristics ?? self.characteristics)
  }

  /// One block of fixed codes, in which a run of equal bytes is short (RFC 1950, RFC 1951 section 3.2.6).
  private static func zlib(_ bytes: [UInt8]) -> [UInt8] {
    var (stream, bits, count): ([UInt8], UInt32, UInt32) = ([0x78, 0x01], 0, 0)
    func write(_ value: UInt32, _ width: UInt32) {
      bits |= value << count
      count += width
      while count >= 8 {
        stream.append(UInt8(bits & 0xFF))
        (bits, count) = (bits >> 8, count - 8)
      }
    }
    /// Writes a code from its highest bit.
    func code(_ value: UInt32, _ width: UInt32) {
      for place in (0..<width).reversed() { write(value >> place & 1, 1) }
    }
    write(0b011, 3)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte < 144 { code(0x30 + UInt32(byte), 8) } else { code(0x190 + UInt32(byte) - 144, 9) }
      var end = index + 1
      while end < bytes.count, bytes[end] == byte { end += 1 }
      index += 1
      while end - index >= 258 {
        // 258 bytes more, from one byte back.
        code(0xC5, 8)
        code(0, 5)
        index += 258
      }
      while end - index >= 10 {
        code(264 - 256, 7)
        code(0, 5)
        index += 10
      }
    }
    code(0, 7)
    write(0, (8 - count) % 8)
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      a = (a + UInt32(byte)) % 65_521
      b = (b + a) % 65_521
    }
    return stream + number(b << 16 | a)
  }

  private static func crc(_ bytes: [UInt8]) -> UInt32 {
    var value: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      value ^= UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
    return ~value
  }

  private static func number(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
  }
}
