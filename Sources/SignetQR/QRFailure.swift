import SignetFiles

/// Why a QR code could not be made or read.
///
/// No case carries the text of a code: an invite is a secret.
@nonexhaustive public enum QRFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no text to encode.
  case emptyText
  /// The text needs more room than a version 40 symbol at level M has.
  case textTooLong(byteCount: Int)
  /// The module size or the quiet zone is out of range, or the image would be wider than 8192 pixels.
  case measureOutOfRange(moduleSize: Int, quietZone: Int)
  /// The bytes do not begin as a PNG does.
  case notPNG
  /// The file is larger than ``QRReader/maximumByteCount``.
  case fileTooLarge
  /// The image is larger than ``QRReader`` accepts, in pixels.
  case imageTooLarge(width: UInt32, height: UInt32)
  /// The PNG is cut short or contradicts itself.
  case damaged
  /// The image holds so much that looks like the corner of a QR code that reading it would take long.
  case tooManyPatterns
  /// The image holds no QR code that can be read.
  case noCode
  /// A QR code was read, but its content is not UTF-8 text.
  case notText
  /// The image holds several different QR codes where one is wanted.
  case several(count: Int)
  /// The file could not be read; `code` is an `errno` value.
  case cannotRead(code: Int32)
  /// The file could not be written; `code` is an `errno` value.
  case cannotWrite(code: Int32)
  /// A C function failed for want of memory or for an unforeseen reason.
  case library(call: String)

  /// What happened and what to do; never the content of a code.
  public var description: String {
    switch self {
    case .emptyText: "there is no text to put into a QR code; give at least one character"
    case .textTooLong(let byteCount):
      "\(byteCount) bytes do not fit into one QR code; shorten the text to at most 2331 bytes"
    case .measureOutOfRange(let moduleSize, let quietZone):
      "module size \(moduleSize) with quiet zone \(quietZone) is out of range; "
        + "use modules of 1 to 64 pixels and a quiet zone of 0 to 32 modules, at most 8192 pixels in all"
    case .notPNG: "the file is not a PNG image; save the picture as PNG and try again"
    case .fileTooLarge: "the file is larger than 10 MiB; crop the picture to the QR code"
    case .imageTooLarge(let width, let height):
      "the image is \(width) x \(height) pixels; crop it to at most 8192 x 8192 and 33554432 pixels"
    case .damaged: "the PNG is damaged or cut short; save it again"
    case .tooManyPatterns:
      "the picture is full of what looks like corners of QR codes; crop it to the one you want"
    case .noCode: "no QR code was found; crop the picture to the code, with its white margin"
    case .notText: "the QR code does not hold UTF-8 text; it is not one of ours"
    case .several(let count): "\(count) QR codes were found; crop the picture to the one you want"
    case .cannotRead(let code): "the image cannot be read: \(systemMessage(code))"
    case .cannotWrite(let code): "the image cannot be written: \(systemMessage(code))"
    case .library(let call): "\(call) failed; free some memory and try again"
    }
  }
}
