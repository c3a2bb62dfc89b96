/// A still picture that every viewer shows alike: it was decoded to its last row, within bounds.
package struct PNGPicture: Hashable, Sendable {
  /// What it says of itself.
  package let frame: PNGFrame

  /// The picture itself; how colours are meant, when it was made and how large a pixel is.
  private static let plainChunks = Set(
    ["IHDR", "PLTE", "IDAT", "IEND", "sRGB", "gAMA", "cHRM", "sBIT", "pHYs", "tIME", "tEXt"].map {
      Array($0.utf8)
    })

  /// Decodes a file and lets go of the pixels.
  ///
  /// What moves, turns or shines through, and bytes after the end of the picture, are refused: viewers differ in what they show of
  /// them.
  ///
  /// - Parameters:
  ///   - bytes: A whole PNG file (ISO/IEC 15948).
  ///   - limits: How large it may be.
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
