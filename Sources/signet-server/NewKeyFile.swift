import Foundation
import SignetFiles
import SignetTerminal

/// A new file for an API key, mode 0600.
struct NewKeyFile: ~Copyable {
  private let path: String
  private let file: OpenFile

  /// Makes the file, empty; one that exists is refused.
  init(path: String) throws(CommandFailure) {
    do throws(FileFailure) { file = try OpenFile(creating: path) } catch {
      let reason = error.code == EEXIST ? "it exists already" : systemMessage(error.code)
      throw CommandFailure(.cannotCreate, "\(path) can't be made: \(reason); no key was made")
    }
    self.path = path
  }

  /// Puts the key and a newline on the disk; what holds a part of a key only is removed.
  func write(_ key: String) throws(CommandFailure) {
    do throws(FileFailure) {
      try file.append(Array("\(key)\n".utf8).span.bytes)
      try file.synchronize()
      try OpenFile.synchronizeFolder(folderPath(of: path))
    } catch {
      remove()
      throw CommandFailure(
        .cannotCreate,
        "\(path) can't be written: \(systemMessage(error.code)); revoke the key and make another")
    }
  }

  /// Removes the file that got no key.
  func remove() { unlink(path) }
}
