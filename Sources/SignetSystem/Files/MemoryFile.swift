#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Detects file systems in memory, for files that must leave no trace.
package enum MemoryFile {
  /// Returns true if files in a folder stay in memory: a disk, its log or its backups would keep them.
  ///
  /// - Parameter status: The folder's status.
  /// - Returns: True if the folder's file system is in memory.
  /// - Throws: ``FileFailure``.
  static func isInMemory(_ status: stat) throws(FileFailure) -> Bool {
    #if os(Linux)
      let device = UInt64(status.st_dev)
      let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
      let minor = device & 0xFF | device >> 12 & ~0xFF
      let mounts = try OpenFile(reading: "/proc/self/mountinfo").contents(limit: 1 << 24)
      return Self.isInMemory("\(major):\(minor)", mounts: String(decoding: mounts, as: UTF8.self))
    #else
      return false
    #endif
  }

  /// Returns true if a device is mounted as a file system in memory, by the text of `/proc/self/mountinfo` (proc(5)).
  ///
  /// The device is the third word of a line, the type the one after `-`.
  package static func isInMemory(_ device: String, mounts: String) -> Bool {
    for line in mounts.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 2, fields[2] == device, let dash = fields.firstIndex(of: "-") else { continue }
      return fields[(dash + 1)...].first.map { ["tmpfs", "ramfs"].contains($0) } ?? false
    }
    return false
  }
}
