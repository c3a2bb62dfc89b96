/// Why bytes are no picture that can be taken.
package enum PNGFailure: Error, Hashable, Sendable {
  /// They do not begin as a PNG does.
  case notPNG
  /// There are more of them than may be.
  case fileTooLarge
  /// The picture has more pixels, or more on a side, than may be.
  case imageTooLarge(width: UInt32, height: UInt32)
  /// The PNG is cut short or contradicts itself.
  case damaged
  /// A function of libpng failed for want of memory or for an unforeseen reason.
  case library(call: String)
}
