#if os(Linux)
  import CLinuxProcess
  import Glibc

  /// Who owns a file and who may write to it.
  package struct FileStatus: Hashable {
    let device: UInt64
    let number: UInt64
    let byteCount: Int64
    let modified: Int64
    let changed: Int64
    let mode: UInt32
    let owner: UInt32
    let group: UInt32

    /// Of what a path leads to, be it by links; `nil` where there is nothing, or nothing that may be looked at.
    package init?(_ path: String) {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      device = UInt64(status.st_dev)
      number = UInt64(status.st_ino)
      byteCount = Int64(status.st_size)
      modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
      changed = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
      mode = status.st_mode
      owner = status.st_uid
      group = status.st_gid
    }

    /// Whether everybody may write to it; in a folder like `/tmp`, where nobody touches what is another's, that is no harm.
    package var isOpenToAll: Bool { mode & UInt32(S_IWOTH) != 0 && mode & UInt32(Glibc.S_ISVTX) == 0 }

    /// Whether the system alone may write to it: root owns it, or in a namespace of users, where root may have no number here, nobody
    /// does; and neither a group of others nor everybody may write.
    package func isSystems(overflow: UInt32) -> Bool {
      (owner == 0 || owner == overflow) && !isOpenToAll
        && (mode & UInt32(S_IWGRP) == 0 || group == 0 || group == overflow)
    }
  }

  extension FileStatus {
    /// The number that owners without one here are shown as.
    static let overflowOwner: UInt32 =
      KernelFile.text("/proc/sys/kernel/overflowuid").flatMap { UInt32($0.filter(\.isNumber)) } ?? 65_534
  }
#endif
