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
  /// The corresponding C functions are `QRcode_encodeString`, which chooses the tightest mode for each part,
  /// and, for text with a NUL in it, `QRcode_encodeData`.
  init(_ text: String) throws(QRFailure) {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty else { throw .emptyText }
    // No version holds more than 7089 digits; past it, do not ask (the C side counts in `int`).
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

  /// The modules on each side, 21 to 177.
  var side: Int { Int(unsafe raw.pointee.width) }

  /// Row by row from the top left, true where dark; only bit 0 of each byte says so.
  var modules: [Bool] {
    let bytes = unsafe UnsafeBufferPointer(start: raw.pointee.data, count: side * side)
    return unsafe bytes.map { $0 & 1 == 1 }
  }
}
