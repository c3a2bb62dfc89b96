import SignetFiles
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

/// A new file that an option names, mode 0600, for what is shown once: a key, a secret, a picture of a code.
///
/// It is made before that is asked for, since what could be written nowhere would be lost; one that gets no content is removed.
struct NewFile: ~Copyable {
  private let path: String
  private let file: OpenFile
  private var isWritten = false

  /// Makes the file, empty; one that exists is refused.
  ///
  /// - Parameters:
  ///   - path: Where.
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

  /// The file that an option names, if it is given.
  ///
  /// - Parameters:
  ///   - option: The option.
  ///   - arguments: The command line.
  /// - Returns: The file; `nil` where none is named.
  /// - Throws: `CommandFailure`.
  static func named(by option: String, _ arguments: Arguments) throws(CommandFailure) -> NewFile? {
    guard let path = arguments.optionalString(option) else { return nil }
    return try NewFile(path: path, option: option)
  }

  deinit { if !isWritten { unlink(path) } }

  /// Puts the content on the disk.
  ///
  /// - Parameters:
  ///   - content: All of it.
  ///   - advice: What to do where it can't be written.
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
