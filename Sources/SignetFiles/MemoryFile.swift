#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Files that are to be forgotten: in memory, and overwritten before they are deleted.
package enum MemoryFile {
  /// Whether what is written to a folder stays in memory: a disk, its log or its backups would remember.
  ///
  /// - Throws: ``FileFailure``.
  package static func isPlace(_ folder: String) throws(FileFailure) -> Bool {
    #if os(Linux)
      var status = stat()
      guard unsafe stat(folder, &status) == 0 else { throw errno == ENOENT ? .missing : .last("stat") }
      let device = UInt64(status.st_dev)
      let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
      let minor = device & 0xFF | device >> 12 & ~0xFF
      let mounts = try OpenFile(reading: "/proc/self/mountinfo").contents(limit: 1 << 24)
      return Self.isInMemory("\(major):\(minor)", mounts: String(decoding: mounts, as: UTF8.self))
    #else
      return false
    #endif
  }

  /// Whether a device is mounted as a file system in memory, by the text of `/proc/self/mountinfo` (proc(5)): the device is the third
  /// word of a line, the type the one after `-`.
  package static func isInMemory(_ device: String, mounts: String) -> Bool {
    for line in mounts.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 2, words[2] == device, let dash = words.firstIndex(of: "-") else { continue }
      return words[(dash + 1)...].first.map { ["tmpfs", "ramfs"].contains($0) } ?? false
    }
    return false
  }

  /// Overwrites a file with zeros and deletes it; where it is gone already there is nothing to do.
  ///
  /// - Throws: ``FileFailure``.
  package static func forget(_ path: String, byteCount: Int) throws(FileFailure) {
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0, errno == ENOENT { return }
    guard descriptor >= 0 else { throw .last("open") }
    defer { close(descriptor) }
    let zeros = [UInt8](repeating: 0, count: byteCount)
    let written = unsafe zeros.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    guard written == byteCount else { throw .last("pwrite") }
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .last("unlink") }
  }
}
