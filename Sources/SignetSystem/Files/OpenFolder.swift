#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An open folder: operations apply to it even if its path now names another folder.
package final class OpenFolder: Sendable {
  private let descriptor: Int32

  /// Opens a folder; checks the rule after opening.
  ///
  /// - Throws: ``FileFailure``.
  package init(_ path: String, as rule: FileRule) throws(FileFailure) {
    let opened = retrying { unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard opened >= 0 else {
      switch errno {
      case ENOENT: throw .missing
      case ENOTDIR: throw .wrongKind
      default: throw .last("open")
      }
    }
    descriptor = opened
    try rule.check(status())
  }

  deinit { _ = close(descriptor) }

  private func status() throws(FileFailure) -> stat {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .last("fstat") }
    return status
  }

  /// Returns true if files in the folder stay in memory, see ``MemoryFile``.
  ///
  /// - Throws: ``FileFailure``.
  package func isInMemory() throws(FileFailure) -> Bool { try MemoryFile.isInMemory(status()) }

  /// Returns true if the folder was deleted after it was opened.
  ///
  /// - Throws: ``FileFailure``.
  package func isDeleted() throws(FileFailure) -> Bool { try status().st_nlink == 0 }

  /// Returns the sorted names in the folder, without those that start with a dot.
  ///
  /// - Throws: ``FileFailure``.
  package func names() throws(FileFailure) -> [String] {
    // A separate descriptor: listing moves the folder's read position, and closing the listing closes the descriptor.
    let listed = retrying { unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard listed >= 0 else { throw .last("open") }
    guard let directory = unsafe fdopendir(listed) else {
      let failure = FileFailure.last("fdopendir")
      close(listed)
      throw failure
    }
    return unsafe FolderListing.names(closing: directory, areHiddenLeftOut: true)
  }

  /// Opens a file in the folder if a rule allows it.
  ///
  /// - Throws: ``FileFailure``; `ELOOP` for a link that the rule forbids.
  package func reading(_ name: String, as rule: FileRule) throws(FileFailure) -> OpenFile {
    try OpenFile.reading(name, as: rule, in: descriptor)
  }

  /// Creates a new file in the folder, mode 0600.
  ///
  /// - Throws: ``FileFailure/system(call:errno:)``, `EEXIST` if the name is in use; a failed call leaves no file.
  package func create(_ name: String, _ bytes: RawSpan) throws(FileFailure) {
    let file = try OpenFile(creating: name, in: descriptor)
    do throws(FileFailure) { try file.append(bytes) } catch {
      unsafe unlinkat(descriptor, name, 0)  // best effort: the write failure is thrown
      throw error
    }
  }

  /// Overwrites a file in the folder with zeros and deletes it; does nothing if it does not exist.
  ///
  /// - Throws: ``FileFailure``.
  package func forget(_ name: String, byteCount: Int) throws(FileFailure) {
    let file = retrying { unsafe openat(descriptor, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    if file < 0, errno == ENOENT { return }
    guard file >= 0 else { throw .last("open") }
    defer { close(file) }
    let zeros = [UInt8](repeating: 0, count: byteCount)
    let written = unsafe zeros.withUnsafeBytes { unsafe pwrite(file, $0.baseAddress, $0.count, 0) }
    guard written == byteCount else { throw .last("pwrite") }
    guard unsafe unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else { throw .last("unlink") }
  }
}
