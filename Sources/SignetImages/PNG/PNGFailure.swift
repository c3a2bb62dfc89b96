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
