import Foundation
import SignetJSON
import SignetTerminal

/// The text of a file that a command is given; `-` stands for standard input.
///
/// - Parameter path: The file, of which one mebibyte is read.
/// - Returns: The text.
/// - Throws: `CommandFailure` where it can't be read, or is no text.
func inputText(at path: String) throws -> String {
  let unreadable = CommandFailure(.noInput, "\(path) can't be read as text")
  let handle = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: path)
  let data: Data?
  do { data = try handle?.read(upToCount: 1 << 20) } catch { throw unreadable }
  guard let data, let text = String(data: data, encoding: .utf8) else { throw unreadable }
  return text
}

/// The JSON object in a file that an option names.
///
/// - Parameters:
///   - path: The file.
///   - option: The option's name.
/// - Returns: The object.
/// - Throws: `CommandFailure` where it can't be read, or is no object.
func jsonObject(at path: String, option: String) throws -> JSONObject {
  guard let bytes = FileManager.default.contents(atPath: path) else {
    throw CommandFailure(.noInput, "\(path) can't be read; check --\(option)")
  }
  do { return try JSONObject(parsing: Array(bytes)) } catch {
    throw CommandFailure(.dataError, "\(path), which --\(option) names: \(error)")
  }
}
