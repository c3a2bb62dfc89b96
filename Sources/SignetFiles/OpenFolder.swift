#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An open folder: what is done in it is done there, whatever has its path by then.
package final class OpenFolder: Sendable {
  private let descriptor: Int32

  /// Opens what a rule allows; it is judged once it is open.
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

  /// Whether what is written to it stays in memory, as ``MemoryFile`` says.
  ///
  /// - Throws: ``FileFailure``.
  package func isInMemory() throws(FileFailure) -> Bool { try MemoryFile.isPlace(status()) }

  /// Whether it was deleted since it was opened.
  ///
  /// - Throws: ``FileFailure``.
  package func isDeleted() throws(FileFailure) -> Bool { try status().st_nlink == 0 }

  /// The names in it, in order, those that begin with a dot left out.
  ///
  /// - Throws: ``FileFailure``.
  package func names() throws(FileFailure) -> [String] {
    // Of its own, since a listing moves the place in the folder, and the end of the listing closes it.
    let listed = retrying { unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard listed >= 0 else { throw .last("open") }
    guard let directory = unsafe fdopendir(listed) else {
      let failure = FileFailure.last("fdopendir")
      close(listed)
      throw failure
    }
    return unsafe FolderListing.names(closing: directory, areHiddenLeftOut: true)
  }

  /// Opens a file in it that a rule allows.
  ///
  /// - Throws: ``FileFailure``; `ELOOP` for a link where none may be.
  package func reading(_ name: String, as rule: FileRule) throws(FileFailure) -> OpenFile {
    try OpenFile.reading(name, as: rule, in: descriptor)
  }

  /// Makes a new file in it, mode 0600.
  ///
  /// - Throws: ``FileFailure/system(call:errno:)``, `EEXIST` if something is there; nothing is left of a failure.
  package func create(_ name: String, _ bytes: RawSpan) throws(FileFailure) {
    let file = try OpenFile(creating: name, in: descriptor)
    do throws(FileFailure) { try file.append(bytes) } catch {
      unsafe unlinkat(descriptor, name, 0)  // best effort: the failure that matters is already on its way
      throw error
    }
  }

  /// Overwrites a file in it with zeros and deletes it; where it is gone already there is nothing to do.
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
