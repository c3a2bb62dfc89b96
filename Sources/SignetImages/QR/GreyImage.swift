/// The pixels of an image: one byte each, 0 is black, rows from the top without padding.
@safe struct GreyImage: ~Copyable {
  let width: Int
  let height: Int
  private let pixels: UnsafeMutableRawBufferPointer

  /// Creates a white image.
  ///
  /// - Throws: ``QRFailure/imageTooLarge(width:height:)`` before anything is allocated.
  init(width: Int, height: Int) throws(QRFailure) {
    guard (1...QRReader.maximumSide).contains(width), (1...QRReader.maximumSide).contains(height),
      width * height <= QRReader.maximumPixelCount
    else {
      throw .imageTooLarge(width: UInt32(clamping: width), height: UInt32(clamping: height))
    }
    self.width = width
    self.height = height
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: width * height, alignment: 16)
    unsafe buffer.initializeMemory(as: UInt8.self, repeating: 255)
    unsafe pixels = buffer
  }

  deinit { unsafe pixels.deallocate() }

  /// Blackens a square with its upper left pixel at (`x`, `y`); it must be inside the image.
  mutating func fillBlack(x: Int, y: Int, side: Int) {
    precondition(x >= 0 && y >= 0 && x + side <= width && y + side <= height, "the square is inside")
    for row in y..<y + side {
      for column in x..<x + side { unsafe pixels[row * width + column] = 0 }
    }
  }

  mutating func invert() {
    for index in unsafe pixels.indices { unsafe pixels[index] = ~pixels[index] }
  }

  /// Lends the pixels, `width * height` bytes, to C; the pointer must not outlive the call.
  borrowing func withUnsafePixels<R: ~Copyable, E: Error>(
    _ body: (UnsafeMutableRawPointer) throws(E) -> R
  ) throws(E) -> R {
    guard let start = unsafe pixels.baseAddress else { preconditionFailure("an image has pixels") }
    return try unsafe body(start)
  }
}
