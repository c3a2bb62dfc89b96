/// A still picture that all viewers show alike; it was decoded to its last row, within limits.
package struct PNGPicture: Hashable, Sendable {
  package let frame: PNGFrame

  /// The allowed chunks: the picture, its colour space, its time stamp, its pixel size, and text.
  private static let plainChunks = Set(
    ["IHDR", "PLTE", "IDAT", "IEND", "sRGB", "gAMA", "cHRM", "sBIT", "pHYs", "tIME", "tEXt"].map {
      Array($0.utf8)
    })

  /// Decodes a file to validate it, and discards the pixels.
  ///
  /// Animation, rotation, transparency, and bytes after the end of the picture are rejected: viewers show them differently.
  ///
  /// - Parameters:
  ///   - bytes: A whole PNG file (ISO/IEC 15948).
  ///   - limits: The size limits.
  /// - Throws: ``PNGFailure``.
  package init(decoding bytes: [UInt8], limits: PNGLimits) throws(PNGFailure) {
    frame = try PNGFrame(bytes, limits: limits)
    guard frame.trailingByteCount == 0, [0, 2, 3].contains(frame.colourType),
      frame.chunkNames.allSatisfy(Self.plainChunks.contains)
    else { throw .damaged }
    let pixels = UnsafeMutableRawPointer.allocate(
      byteCount: Int(frame.width) * Int(frame.height), alignment: 16)
    defer { unsafe pixels.deallocate() }
    unsafe try PNGSession().read(bytes, frame, into: pixels)
  }
}

/// Why bytes were rejected as a picture.
package enum PNGFailure: Error, Hashable, Sendable {
  /// The PNG signature is missing.
  case notPNG
  /// The file exceeds the size limit.
  case fileTooLarge
  /// The picture exceeds the limit on pixels in total or per side.
  case imageTooLarge(width: UInt32, height: UInt32)
  /// The PNG is truncated or inconsistent.
  case damaged
  /// A function of libpng failed, because memory was exhausted or for an unexpected reason.
  case library(call: String)
}
