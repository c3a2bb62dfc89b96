import Foundation
import SignetTerminal

/// A file of at most 1 MiB that somebody else may have written.
enum TextFile {
  private static let maximumByteCount = 1 << 20

  /// The text of a file, or of standard input for `-`.
  static func contents(of path: String) throws -> String {
    let unreadable = CommandFailure(.noInput, "\(path) can't be read as text")
    let handle = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: path)
    let data: Data?
    do { data = try handle?.read(upToCount: maximumByteCount + 1) } catch { throw unreadable }
    guard let data else { throw unreadable }
    guard data.count <= maximumByteCount else {
      throw CommandFailure(.dataError, "\(path) is larger than 1 MiB, which no message is")
    }
    guard let text = String(data: data, encoding: .utf8) else { throw unreadable }
    return text
  }
}
