import Foundation
import SignetJSON
import SignetTerminal

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
