import CPNG

// libpng reports errors with `longjmp`, which must not cross Swift frames. Only its simplified API (`png_image_…`) is called
// here: each of its functions sets its own jump target, runs inside C, and returns false after an error.

/// A `png_image`, freed with its single owner.
///
/// It is allocated on the heap because libpng keeps its address between calls, and an `inout` has no lasting address.
@safe package struct PNGSession: ~Copyable {
  private let raw: UnsafeMutablePointer<png_image>

  package init() {
    let image = UnsafeMutablePointer<png_image>.allocate(capacity: 1)
    unsafe image.initialize(to: png_image())
    unsafe image.pointee.version = png_uint_32(PNG_IMAGE_VERSION)
    unsafe raw = image
  }

  deinit {
    unsafe png_image_free(raw)
    unsafe raw.deallocate()
  }

  /// Decodes a picture of any colour type as 8-bit grey, transparent parts on white.
  ///
  /// The corresponding C functions are `png_image_begin_read_from_memory` and `png_image_finish_read`.
  ///
  /// - Parameters:
  ///   - bytes: The file; its frame was validated.
  ///   - frame: The metadata of the file.
  ///   - pixels: Memory of one byte for each pixel.
  /// - Throws: ``PNGFailure/damaged``.
  package func read(
    _ bytes: [UInt8], _ frame: PNGFrame, into pixels: UnsafeMutableRawPointer
  ) throws(PNGFailure) {
    let isRead = unsafe frame.pixels(of: bytes).withUnsafeBytes { source in
      guard unsafe png_image_begin_read_from_memory(raw, source.baseAddress, source.count) != 0,
        unsafe raw.pointee.width == frame.width, unsafe raw.pointee.height == frame.height
      else { return false }
      unsafe raw.pointee.format = png_uint_32(PNG_FORMAT_GRAY)
      var white = png_color(red: 255, green: 255, blue: 255)
      return unsafe png_image_finish_read(raw, &white, pixels, png_int_32(frame.width), nil) != 0
    }
    guard isRead else { throw .damaged }
  }

  /// Encodes 8-bit grey pixels.
  ///
  /// The corresponding C function is `png_image_write_to_memory`; a first call returns the size.
  ///
  /// - Parameters:
  ///   - pixels: One byte for each pixel, rows from the top.
  ///   - width: The number of pixels per row.
  ///   - height: The number of rows.
  /// - Throws: ``PNGFailure/library(call:)``.
  /// - Returns: The file.
  package func write(
    _ pixels: UnsafeRawPointer, width: Int, height: Int
  ) throws(PNGFailure) -> [UInt8] {
    unsafe raw.pointee.width = png_uint_32(width)
    unsafe raw.pointee.height = png_uint_32(height)
    unsafe raw.pointee.format = png_uint_32(PNG_FORMAT_GRAY)
    var size: png_alloc_size_t = 0
    let stride = png_int_32(width)
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
