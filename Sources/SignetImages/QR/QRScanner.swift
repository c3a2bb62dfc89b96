import CZBar

/// A zbar image scanner for QR codes only, destroyed with its single owner.
@safe struct QRScanner: ~Copyable {
  private let raw: OpaquePointer

  /// Creates a scanner; the corresponding C function is `zbar_image_scanner_create`.
  init() throws(QRFailure) {
    guard let scanner = unsafe zbar_image_scanner_create() else {
      throw .library(call: "zbar_image_scanner_create")
    }
    let settings: [(zbar_symbol_type_t, zbar_config_t, Int32)] = [
      (ZBAR_NONE, ZBAR_CFG_ENABLE, 0),
      (ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1),
      // Raw bytes: otherwise zbar would guess a character set.
      (ZBAR_QRCODE, ZBAR_CFG_BINARY, 1),
    ]
    for (symbology, key, value) in settings {
      guard unsafe zbar_image_scanner_set_config(scanner, symbology, key, value) == 0 else {
        unsafe zbar_image_scanner_destroy(scanner)
        throw .library(call: "zbar_image_scanner_set_config")
      }
    }
    // The content may be a secret and must not be sent over a message bus.
    _ = unsafe zbar_image_scanner_request_dbus(scanner, 0)
    unsafe raw = scanner
  }

  deinit { unsafe zbar_image_scanner_destroy(raw) }

  /// Returns the contents of all codes, from the top down and from the left.
  ///
  /// The corresponding C function is `zbar_scan_image`.
  func contents(of image: borrowing GreyImage) throws(QRFailure) -> [[UInt8]] {
    let view = try ScannedImage()
    return try unsafe image.withUnsafePixels { pixels throws(QRFailure) in
      unsafe view.show(pixels, width: image.width, height: image.height)
      guard unsafe zbar_scan_image(raw, view.raw) >= 0 else { throw .library(call: "zbar_scan_image") }
      return view.codes.sorted { ($0.top, $0.left) < ($1.top, $1.left) }.map(\.content)
    }
  }
}

/// A `zbar_image_t`, released with its single owner; it borrows its pixels.
@safe private struct ScannedImage: ~Copyable {
  let raw: OpaquePointer

  init() throws(QRFailure) {
    guard let image = unsafe zbar_image_create() else { throw .library(call: "zbar_image_create") }
    unsafe raw = image
  }

  deinit { unsafe zbar_image_destroy(raw) }

  /// Makes the image borrow `width * height` bytes, which must stay valid while it is scanned.
  func show(_ pixels: UnsafeMutableRawPointer, width: Int, height: Int) {
    // The format is the four characters "Y800", least significant first: 8-bit grey.
    unsafe zbar_image_set_format(raw, 0x3030_3859)
    unsafe zbar_image_set_size(raw, UInt32(width), UInt32(height))
    unsafe zbar_image_set_data(raw, pixels, UInt(width * height), nil)
  }

  /// The results: the content and the minimum coordinates of each code.
  var codes: [(content: [UInt8], top: Int32, left: Int32)] {
    var found: [(content: [UInt8], top: Int32, left: Int32)] = []
    var next = unsafe zbar_image_first_symbol(raw)
    while let symbol = unsafe next {
      if unsafe zbar_symbol_get_type(symbol) == ZBAR_QRCODE,
        let data = unsafe zbar_symbol_get_data(symbol)
      {
        let length = Int(unsafe zbar_symbol_get_data_length(symbol))
        let content = unsafe Array(UnsafeRawBufferPointer(start: data, count: length))
        let corners = 0..<(unsafe zbar_symbol_get_loc_size(symbol))
        found.append(
          (
            content, corners.map { unsafe zbar_symbol_get_loc_y(symbol, $0) }.min() ?? 0,
            corners.map { unsafe zbar_symbol_get_loc_x(symbol, $0) }.min() ?? 0
          ))
      }
      unsafe next = zbar_symbol_next(symbol)
    }
    return found
  }
}
