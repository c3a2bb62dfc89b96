import SignetSystem

/// Why a QR code could not be made or read.
///
/// No case contains the text of a code, because an invite is a secret.
@nonexhaustive public enum QRFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text is empty.
  case emptyText
  /// The text does not fit into a version 40 symbol at level M.
  case textTooLong(byteCount: Int)
  /// The module size or the quiet zone is out of range, or the image would be wider than 8192 pixels.
  case measureOutOfRange(moduleSize: Int, quietZone: Int)
  /// The PNG signature is missing.
  case notPNG
  /// The file exceeds ``QRReader/maximumByteCount``.
  case fileTooLarge
  /// The image exceeds the pixel limits of ``QRReader``.
  case imageTooLarge(width: UInt32, height: UInt32)
  /// The PNG is truncated or inconsistent.
  case damaged
  /// The image has so many patterns like the corners of a QR code that reading it would take too long.
  case tooManyPatterns
  /// The image has no readable QR code.
  case noCode
  /// The content of a QR code is not UTF-8 text.
  case notText
  /// The image has several different QR codes, but one is expected.
  case several(count: Int)
  /// The file could not be read; `code` is an `errno` value.
  case cannotRead(code: Int32)
  /// The file could not be written; `code` is an `errno` value.
  case cannotWrite(code: Int32)
  /// A C function failed, because memory was exhausted or for an unexpected reason.
  case library(call: String)

  /// The cause and the remedy; never the content of a code.
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
    case .notText: "the QR code does not hold UTF-8 text; it is not a QR code of Signet"
    case .several(let count): "\(count) QR codes were found; crop the picture to the one you want"
    case .cannotRead(let code): "the image cannot be read: \(systemMessage(code))"
    case .cannotWrite(let code): "the image cannot be written: \(systemMessage(code))"
    case .library(let call): "\(call) failed; free some memory and try again"
    }
  }
}
