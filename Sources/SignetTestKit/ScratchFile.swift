import Foundation

/// A file without a name, deleted with its last reference.
final class ScratchFile: Sendable {
  let descriptor: Int32

  /// Creates a file with `content`, positioned at its start; writes append.
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

  /// The whole content, independent of the positions of its reader and writer.
  var bytes: [UInt8] {
    var (bytes, part) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    while case let count = pread(descriptor, &part, part.count, off_t(bytes.count)), count > 0 {
      bytes += part[..<count]
    }
    return bytes
  }
}
