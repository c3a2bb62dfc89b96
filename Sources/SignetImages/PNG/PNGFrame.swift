/// The size limits of a picture, checked before memory for its pixels is allocated.
package struct PNGLimits: Hashable, Sendable {
  package var byteCount: Int
  /// The maximum number of pixels per side.
  package var side: UInt32
  /// The maximum number of pixels in total.
  package var pixelCount: Int

  package init(byteCount: Int, side: UInt32, pixelCount: Int) {
    self.byteCount = byteCount
    self.side = side
    self.pixelCount = pixelCount
  }
}

/// The metadata of a PNG (ISO/IEC 15948 section 5).
package struct PNGFrame: Hashable, Sendable {
  package let width: UInt32
  package let height: UInt32
  package let bitDepth: UInt8
  package let colourType: UInt8
  package let compression: UInt8
  package let filter: UInt8
  package let interlace: UInt8
  /// The palette, three bytes per colour; empty for other colour types than 3.
  package let palette: [UInt8]
  /// The names of all chunks up to the end of the picture, in order.
  package let chunkNames: [[UInt8]]
  /// The number of bytes after the end of the picture.
  package let trailingByteCount: Int
  /// The ranges of the chunks that define the pixels.
  private let pixelRanges: [Range<Int>]

  /// The ancillary chunks that change the grey values of pixels (sections 11.3.2 and 11.3.3).
  private static let pixelChunks = Set(["tRNS", "gAMA", "sRGB", "cHRM"].map { Array($0.utf8) })

  /// Returns true if bytes have the PNG signature (section 5.2).
  package static func isPNG(_ bytes: some Sequence<UInt8>) -> Bool {
    bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
  }

  /// Checks the signature, the bounds of every chunk and the size before libpng parses anything.
  ///
  /// libpng reads no further than the last row, so only this check detects a file that is truncated after it.
  package init(_ bytes: [UInt8], limits: PNGLimits) throws(PNGFailure) {
    guard bytes.count <= limits.byteCount else { throw .fileTooLarge }
    guard Self.isPNG(bytes) else { throw .notPNG }
    // Signature 8, then length 4, type 4, and 13 bytes of IHDR: width, height and five fields of one byte.
    guard bytes.count >= 33, bytes[8..<16].elementsEqual([0, 0, 0, 13] + Array("IHDR".utf8)) else {
      throw .damaged
    }
    width = Self.bigEndian(bytes, at: 16)
    height = Self.bigEndian(bytes, at: 20)
    bitDepth = bytes[24]
    colourType = bytes[25]
    compression = bytes[26]
    (filter, interlace) = (bytes[27], bytes[28])
    guard width > 0, height > 0 else { throw .damaged }
    guard width <= limits.side, height <= limits.side, Int(width) * Int(height) <= limits.pixelCount
    else { throw .imageTooLarge(width: width, height: height) }
    var position = 8
    var names: [[UInt8]] = []
    var palette: [UInt8] = []
    var ranges = [0..<8]
    while true {
      guard bytes.count - position >= 12 else { throw .damaged }
      let length = Int(Self.bigEndian(bytes, at: position))
      guard length <= bytes.count - position - 12 else { throw .damaged }
      let name = Array(bytes[position + 4..<position + 8])
      names.append(name)
      if name == Array("PLTE".utf8) { palette = Array(bytes[position + 8..<position + 8 + length]) }
      // A capital letter marks a critical chunk (section 5.4).
      if name[0] & 0x20 == 0 || Self.pixelChunks.contains(name) {
        ranges.append(position..<position + 12 + length)
      }
      position += 12 + length
      if name == Array("IEND".utf8) { break }
    }
    chunkNames = names
    self.palette = colourType == 3 ? palette : []
    trailingByteCount = bytes.count - position
    pixelRanges = ranges
  }

  /// Returns the file without chunks that do not affect the pixels.
  ///
  /// libpng inflates and keeps texts and profiles, up to a thousand of 8 MB each, before it reads a pixel.
  ///
  /// - Parameter bytes: The file of this frame.
  /// - Returns: The signature, the critical chunks, and those that change the look of pixels.
  func pixels(of bytes: [UInt8]) -> [UInt8] { pixelRanges.reduce(into: []) { $0 += bytes[$1] } }

  private static func bigEndian(_ bytes: [UInt8], at index: Int) -> UInt32 {
    bytes[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
