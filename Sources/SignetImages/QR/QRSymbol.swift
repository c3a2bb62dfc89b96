import CQREncode

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A symbol of libqrencode, freed with its single owner.
@safe struct QRSymbol: ~Copyable {
  private let raw: UnsafeMutablePointer<QRcode>

  /// Encodes `text` at error-correction level M.
  ///
  /// The corresponding C functions are `QRcode_encodeString`, which chooses the most compact mode for each part, and
  /// `QRcode_encodeData` for text that contains a NUL.
  init(_ text: String) throws(QRFailure) {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty else { throw .emptyText }
    // No version holds more than 7089 digits; the check also protects the C function, which counts in `int`.
    guard bytes.count <= 7089 else { throw .textTooLong(byteCount: bytes.count) }
    errno = 0
    let code =
      if bytes.contains(0) {
        unsafe QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M)
      } else {
        unsafe QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1)
      }
    let failure = errno
    guard let code = unsafe code else {
      throw failure == ERANGE ? .textTooLong(byteCount: bytes.count) : .library(call: "QRcode_encode")
    }
    unsafe raw = code
  }

  deinit { unsafe QRcode_free(raw) }

  /// The number of modules per side, 21 to 177.
  var side: Int { Int(unsafe raw.pointee.width) }

  /// The modules row by row from the top left, true if dark; only bit 0 of each byte matters.
  var modules: [Bool] {
    let bytes = unsafe UnsafeBufferPointer(start: raw.pointee.data, count: side * side)
    return unsafe bytes.map { $0 & 1 == 1 }
  }
}
