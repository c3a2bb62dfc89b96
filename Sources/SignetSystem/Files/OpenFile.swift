#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An open file, closed with its single owner.
package struct OpenFile: ~Copyable, Sendable {
  private let descriptor: Int32

  private init(_ path: String, _ flags: Int32, in folder: Int32 = AT_FDCWD) throws(FileFailure) {
    let opened = retrying { unsafe openat(folder, path, flags | O_CLOEXEC, 0o600) }
    guard opened >= 0 else { throw errno == ENOENT && flags & O_CREAT == 0 ? .missing : .last("open") }
    descriptor = opened
  }

  private init(adopting descriptor: Int32) { self.descriptor = descriptor }

  deinit { _ = close(descriptor) }

  /// Creates an empty file, mode 0600, for writing.
  ///
  /// An existing object, even a dangling link, is neither followed nor changed: the call fails with `EEXIST`.
  ///
  /// - Throws: ``FileFailure/system(call:errno:)``.
  package init(creating path: String) throws(FileFailure) { try self.init(creating: path, in: AT_FDCWD) }

  /// Creates an empty file in an open folder.
  init(creating name: String, in folder: Int32) throws(FileFailure) {
    try self.init(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, in: folder)
  }

  /// Opens a file, pipe or terminal of any owner.
  ///
  /// - Throws: ``FileFailure/missing``, ``FileFailure/system(call:errno:)``.
  package init(reading path: String) throws(FileFailure) { try self.init(path, O_RDONLY) }

  /// The standard input of this process.
  ///
  /// It is a copy of the descriptor: opening `/dev/stdin` would need access rights to a file that another user has redirected.
  ///
  /// - Throws: ``FileFailure/system(call:errno:)``.
  package static func standardInput() throws(FileFailure) -> OpenFile {
    let copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw .last("fcntl") }
    return OpenFile(adopting: copy)
  }

  /// Opens a file that a rule allows.
  ///
  /// The rule is checked after opening, so that the file cannot be replaced in between. A pipe in its place does not block
  /// the caller.
  ///
  /// - Throws: ``FileFailure``; `ELOOP` for a link that the rule forbids.
  package static func reading(_ path: String, as rule: FileRule) throws(FileFailure) -> OpenFile {
    try reading(path, as: rule, in: AT_FDCWD)
  }

  /// Opens a file in an open folder if a rule allows it.
  static func reading(_ name: String, as rule: FileRule, in folder: Int32) throws(FileFailure) -> OpenFile {
    let file = try OpenFile(name, O_RDONLY | O_NONBLOCK | (rule.kind == .file ? O_NOFOLLOW : 0), in: folder)
    try rule.check(file.status())
    return file
  }

  private func status() throws(FileFailure) -> stat {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .last("fstat") }
    return status
  }

  /// The number of bytes in the file.
  ///
  /// - Throws: ``FileFailure/tooLarge`` if there are more than `limit`.
  package func byteCount(limit: Int) throws(FileFailure) -> Int {
    let count = Int(try status().st_size)
    guard count <= limit else { throw .tooLarge }
    return count
  }

  /// Fills the free capacity of `output`, so that a secret has no second copy.
  ///
  /// - Throws: ``FileFailure/tooShort`` if the file ends before that.
  package func fill(_ output: inout OutputRawSpan) throws(FileFailure) {
    while output.freeCapacity > 0 {
      let count = unsafe output.withUnsafeMutableBytes { buffer, initialized in
        let count = unsafe next(into: UnsafeMutableRawBufferPointer(rebasing: buffer[initialized...]))
        initialized += max(count, 0)
        return count
      }
      guard count >= 0 else { throw .last("read") }
      guard count > 0 else { throw .tooShort }
    }
  }

  /// Reads to the end.
  ///
  /// - Throws: ``FileFailure/tooLarge`` as soon as more than `limit` bytes were read, regardless of the file's reported size.
  package func contents(limit: Int) throws(FileFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe part.withUnsafeMutableBytes { unsafe next(into: $0) }
      guard count >= 0 else { throw .last("read") }
      if count == 0 { return bytes }
      guard bytes.count + count <= limit else { throw .tooLarge }
      bytes += part[..<count]
    }
  }

  private func next(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    retrying { unsafe read(descriptor, buffer.baseAddress, buffer.count) }
  }

  /// Writes all of `bytes`.
  ///
  /// - Throws: ``FileFailure/system(call:errno:)``; then a part may be written.
  package func append(_ bytes: RawSpan) throws(FileFailure) {
    var offset = 0
    while offset < bytes.byteCount {
      let count = unsafe bytes.extracting(droppingFirst: offset).withUnsafeBytes { rest in
        retrying { unsafe write(descriptor, rest.baseAddress, rest.count) }
      }
      guard count >= 0 else { throw .last("write") }
      offset += count
    }
  }

  /// Makes the written data durable.
  ///
  /// - Throws: ``FileFailure/system(call:errno:)``.
  package func synchronize() throws(FileFailure) {
    guard retrying({ fsync(descriptor) }) == 0 else { throw .last("fsync") }
  }

  /// Makes the names in a folder durable.
  ///
  /// If this user may not list the folder, it cannot be opened for this, and some file systems do not support it (`EINVAL`).
  /// Both cases are ignored.
  ///
  /// - Throws: ``FileFailure/missing``, ``FileFailure/system(call:errno:)``.
  package static func synchronizeFolder(_ path: String) throws(FileFailure) {
    do throws(FileFailure) { try OpenFile(path, O_RDONLY | O_DIRECTORY).synchronize() } catch {
      switch error {
      case .system("open", EACCES), .system("fsync", EINVAL): return
      default: throw error
      }
    }
  }
}
