import Foundation
import Signet
import SignetQR
import SignetTerminal

/// A text that was scanned: in a picture of a QR code, or as it is.
enum ScannedText {
  /// The text of a file, or of standard input.
  ///
  /// - Parameters:
  ///   - path: A PNG picture or a text; `-` for standard input.
  ///   - limit: The most bytes of a text.
  /// - Returns: The text, without white space around it.
  /// - Throws: `CommandFailure` for a file that cannot be read, `QRFailure` for a picture without one code.
  static func read(_ path: String, limit: Int) throws -> String {
    let unreadable = CommandFailure(.noInput, "\(path) cannot be read or is empty")
    let handle = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: path)
    let data: Data?
    do { data = try handle?.read(upToCount: limit + 1) } catch { throw unreadable }
    guard let data, !data.isEmpty else { throw unreadable }
    if path != "-", QRReader.isPNG(data) {
      return try QRReader.singleText(inPNGAt: path)
    }
    guard let text = String(data: data, encoding: .utf8) else {
      throw CommandFailure(.dataError, "\(path) is neither a PNG picture nor UTF-8 text")
    }
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
