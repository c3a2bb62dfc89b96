import SignetSystem
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

/// A new file, mode 0600, for output that is shown only once: a key, a secret, or a picture of a code.
///
/// It is created before the request, because output that could not be written would be lost. A file without content is
/// removed.
struct NewFile: ~Copyable {
  private let path: String
  private let file: OpenFile
  private var isWritten = false

  /// Creates an empty file; an existing one is an error.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - option: The option that names it.
  /// - Throws: `CommandFailure`.
  init(path: String, option: String) throws(CommandFailure) {
    do throws(FileFailure) { file = try OpenFile(creating: path) } catch {
      throw CommandFailure(
        .cannotCreate,
        error.code == EEXIST
          ? "\(path) exists already; remove it, or name another file with --\(ours: option); nothing was made"
          : "\(path) cannot be made: \(ours: systemMessage(error.code)); nothing was made")
    }
    self.path = path
  }

  /// Creates the file that an option names.
  ///
  /// - Parameters:
  ///   - option: The option.
  ///   - arguments: The command line.
  /// - Returns: The file; `nil` if the option is not given.
  /// - Throws: `CommandFailure`.
  static func named(by option: String, _ arguments: Arguments) throws(CommandFailure) -> NewFile? {
    guard let path = arguments.optionalString(option) else { return nil }
    return try NewFile(path: path, option: option)
  }

  deinit { if !isWritten { unlink(path) } }

  /// Writes the content and synchronizes it to disk.
  ///
  /// - Parameters:
  ///   - content: The whole content.
  ///   - advice: The remedy if writing fails.
  /// - Throws: `CommandFailure`.
  mutating func write(_ content: [UInt8], or advice: String) throws(CommandFailure) {
    do throws(FileFailure) {
      try file.append(content.span.bytes)
      try file.synchronize()
      try OpenFile.synchronizeFolder(folderPath(of: path))
    } catch {
      throw CommandFailure(
        .cannotCreate, "\(path) cannot be written: \(ours: systemMessage(error.code)); \(ours: advice)")
    }
    isWritten = true
  }
}
