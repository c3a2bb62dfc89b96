import Foundation

/// A file without a name, gone with its last reference.
final class ScratchFile: Sendable {
  let descriptor: Int32

  /// Makes one that holds `content`, to be read from its beginning; what is written goes to its end.
  init(_ content: [UInt8] = []) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "signet-child-\(UUID().uuidString)")
      .path
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ChildProcess.NotStarted(line: ["a file"], errno: errno) }
    unlink(path)
    guard
      content.isEmpty
        || (write(descriptor, content, content.count) == content.count && lseek(descriptor, 0, SEEK_SET) == 0)
    else {
      close(descriptor)
      throw ChildProcess.NotStarted(line: ["a file"], errno: errno)
    }
  }

  deinit { close(descriptor) }

  /// What is in it, wherever its reader and its writer are.
  var bytes: [UInt8] {
    var (bytes, part) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    while case let count = pread(descriptor, &part, part.count, off_t(bytes.count)), count > 0 {
      bytes += part[..<count]
    }
    return bytes
  }
}
