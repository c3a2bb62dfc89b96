import SignetJSON
import SignetTerminal

/// Reads the JSON object in a file that an option names.
///
/// - Parameters:
///   - path: The file.
///   - option: The option's name.
/// - Returns: The object.
/// - Throws: `CommandFailure` if the file cannot be read, or has no object.
func jsonObject(at path: String, option: String) throws -> JSONObject {
  let bytes = try InputFile.bytes(of: path)
  do { return try JSONObject(parsing: bytes) } catch {
    throw CommandFailure(.dataError, "\(path), which --\(ours: option) names: \(error)")
  }
}
