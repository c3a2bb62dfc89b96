import CPNG

// libpng reports errors with `longjmp`, which must not cross Swift frames. Only its simplified API
// (`png_image_…`) is called here: each of its functions sets its own jump target, runs inside C, and returns
// false after an error.

extension GreyImage {
  /// Reads a PNG of any colour type as 8-bit grey, transparent parts on white.
  ///
  /// - Throws: ``QRFailure/notPNG``, ``QRFailure/fileTooLarge``, ``QRFailure/imageTooLarge(width:height:)``,
  ///   ``QRFailure/damaged`` or ``QRFailure/library(call:)``.
  init(png bytes: [UInt8]) throws(QRFailure) {
    let frame = try PNGFrame(bytes)
    let image = try GreyImage(width: Int(frame.width), height: Int(frame.height))
    let session = try PNGSession()
    try session.read(bytes, into: image)
    self = image
  }

  /// The image as a PNG of 8-bit grey.
  borrowing func png() throws(QRFailure) -> [UInt8] {
    try PNGSession().write(self)
  }
}

/// What a PNG says of itself outside its pixels (ISO/IEC 15948 section 5).
struct PNGFrame {
  let width: UInt32
  let height: UInt32

  /// Checks the signature, the bounds of every chunk and the size before libpng sees a byte.
  ///
  /// libpng reads no further than the last row, so only this walk notices a file that is cut after it.
  init(_ bytes: [UInt8]) throws(QRFailure) {
    guard bytes.count <= QRReader.maximumByteCount else { throw .fileTooLarge }
    guard QRReader.isPNG(bytes) else { throw .notPNG }
    // Signature 8, then length 4, type 4, and 13 bytes of IHDR: width, height and five of one byte each.
    guard bytes.count >= 33, bytes[8..<16].elementsEqual([0, 0, 0, 13] + Array("IHDR".utf8)) else {
      throw .damaged
    }
    width = Self.bigEndian(bytes, at: 16)
    height = Self.bigEndian(bytes, at: 20)
    guard width > 0, height > 0 else { throw .damaged }
    guard width <= QRReader.maximumSide, height <= QRReader.maximumSide,
      Int(width) * Int(height) <= QRReader.maximumPixelCount
    else { throw .imageTooLarge(width: width, height: height) }
    var position = 8
    while true {
      guard bytes.count - position >= 12 else { throw .damaged }
      let length = Int(Self.bigEndian(bytes, at: position))
      guard length <= bytes.count - position - 12 else { throw .damaged }
      // What follows IEND belongs to nobody and is ignored, as viewers do.
      if bytes[position + 4..<position + 8].elementsEqual("IEND".utf8) { return }
      position += 12 + length
    }
  }

  private static func bigEndian(_ bytes: [UInt8], at index: Int) -> UInt32 {
    bytes[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}

/// A `png_image`, freed with its single owner.
///
/// It lies on the heap because libpng keeps its address between calls, and an `inout` has no lasting address.
@safe private struct PNGSession: ~Copyable {
  private let raw: UnsafeMutablePointer<png_image>

  init() throws(QRFailure) {
    let image = UnsafeMutablePointer<png_image>.allocate(capacity: 1)
    unsafe image.initialize(to: png_image())
    unsafe image.pointee.version = png_uint_32(PNG_IMAGE_VERSION)
    unsafe raw = image
  }

  deinit {
    unsafe png_image_free(raw)
    unsafe raw.deallocate()
  }

  /// Decodes `bytes` into an image of exactly the size that the header names.
  ///
  /// The corresponding C functions are `png_image_begin_read_from_memory` and `png_image_finish_read`.
  func read(_ bytes: [UInt8], into image: borrowing GreyImage) throws(QRFailure) {
    let isRead = unsafe bytes.withUnsafeBytes { source in
      guard unsafe png_image_begin_read_from_memory(raw, source.baseAddress, source.count) != 0,
        unsafe raw.pointee.width == image.width, unsafe raw.pointee.height == image.height
      else { return false }
      unsafe raw.pointee.format = png_uint_32(PNG_FORMAT_GRAY)
      var white = png_color(red: 255, green: 255, blue: 255)
      return unsafe image.withUnsafePixels { pixels in
        unsafe png_image_finish_read(raw, &white, pixels, png_int_32(image.width), nil) != 0
      }
    }
    guard isRead else { throw .damaged }
  }

  /// Encodes `image`.
  ///
  /// The corresponding C function is `png_image_write_to_memory`, called once to learn the size.
  func write(_ image: borrowing GreyImage) throws(QRFailure) -> [UInt8] {
    unsafe raw.pointee.width = png_uint_32(image.width)
    unsafe raw.pointee.height = png_uint_32(image.height)
    unsafe raw.pointee.format = png_uint_32(PNG_FORMAT_GRAY)
    return try unsafe image.withUnsafePixels { pixels throws(QRFailure) in
      var size: png_alloc_size_t = 0
      let stride = png_int_32(image.width)
      guard unsafe png_image_write_to_memory(raw, nil, &size, 0, pixels, stride, nil) != 0 else {
        throw .library(call: "png_image_write_to_memory")
      }
      var bytes = [UInt8](repeating: 0, count: Int(size))
      guard unsafe png_image_write_to_memory(raw, &bytes, &size, 0, pixels, stride, nil) != 0 else {
        throw .library(call: "png_image_write_to_memory")
      }
      return Array(bytes.prefix(Int(size)))
    }
  }
}
