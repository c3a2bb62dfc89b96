import Signet
import SignetImages
import SignetSystem
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A scanned text: from a picture of a QR code, or plain.
enum ScannedText {
  /// Reads the text of a file or of standard input.
  ///
  /// - Parameter path: A PNG picture or a text; `-` for standard input.
  /// - Returns: The text, without surrounding white space.
  /// - Throws: `CommandFailure` for a file that cannot be read, and for a text in its place; `QRFailure` for a picture
  ///   without exactly one code.
  static func read(_ path: String) throws -> String {
    try ScannedKind.expectFile(path)
    let bytes = try InputFile.bytes(of: path, limit: QRReader.maximumByteCount)
    if QRReader.isPNG(bytes) { return try QRReader.singleText(inPNG: bytes) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.dataError, "\(path) is neither a PNG picture nor UTF-8 text")
    }
    return text.trimmed
  }

  /// Reads the text of the only QR code in a picture.
  ///
  /// - Parameter path: A PNG picture; `-` for standard input.
  /// - Returns: The text.
  /// - Throws: `CommandFailure` for a file that cannot be read, `QRFailure` for a picture without exactly one code.
  static func picture(_ path: String) throws -> String {
    try ScannedKind.expectFile(path)
    return try QRReader.singleText(inPNG: InputFile.bytes(of: path, limit: QRReader.maximumByteCount))
  }
}
