import SignetSystem

/// Reads whole input files that a command line names, with common error messages.
package enum InputFile {
  /// Reads the bytes of a file, pipe or terminal.
  ///
  /// - Parameters:
  ///   - path: The file; `-` means standard input.
  ///   - limit: The maximum number of bytes.
  /// - Returns: The bytes.
  /// - Throws: ``CommandFailure``: ``ExitCode/noInput`` if it cannot be read, ``ExitCode/dataError`` if it has more bytes.
  package static func bytes(of path: String, limit: Int = 1 << 20) throws(CommandFailure) -> [UInt8] {
    do throws(FileFailure) {
      let file = try path == "-" ? OpenFile.standardInput() : OpenFile(reading: path)
      return try file.contents(limit: limit)
    } catch {
      guard error == .tooLarge else { throw unreadable(path, TerminalText(ours: systemMessage(error.code))) }
      throw CommandFailure(
        .dataError, "\(name(path)) has more than \(ours: size(limit)), the limit for this input")
    }
  }

  /// Reads the text of a file, pipe or terminal.
  ///
  /// - Parameters:
  ///   - path: The file; `-` means standard input.
  ///   - limit: The maximum number of bytes.
  /// - Returns: The text.
  /// - Throws: The failures of ``bytes(of:limit:)``; ``ExitCode/dataError`` if it is not UTF-8.
  package static func text(of path: String, limit: Int = 1 << 20) throws(CommandFailure) -> String {
    guard let text = String(validating: try bytes(of: path, limit: limit), as: UTF8.self) else {
      throw CommandFailure(.dataError, "\(name(path)) is not UTF-8 text")
    }
    return text
  }

  /// Returns the failure for a file that cannot be read.
  ///
  /// - Parameters:
  ///   - path: The file; `-` means standard input.
  ///   - reason: The reason.
  /// - Returns: The failure, with ``ExitCode/noInput``.
  package static func unreadable(_ path: String, _ reason: TerminalText) -> CommandFailure {
    CommandFailure(.noInput, "\(name(path)) cannot be read: \(reason)")
  }

  /// Returns the failure for an unreadable file whose first line is a secret.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - failure: The reason.
  /// - Returns: The failure, with ``ExitCode/noInput``.
  package static func unreadable(_ path: String, _ failure: SecretInputFailure) -> CommandFailure {
    guard case .unreadable(let code) = failure else { return unreadable(path, failure.message) }
    return unreadable(path, TerminalText(ours: systemMessage(code)))
  }

  private static func name(_ path: String) -> String { path == "-" ? "standard input" : path }

  private static func size(_ byteCount: Int) -> String {
    for (unit, name) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
    where byteCount % unit == 0 {
      return "\(byteCount / unit) \(name)"
    }
    return "\(byteCount) bytes"
  }
}
