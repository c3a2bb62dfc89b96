#if os(Linux)
  import CLinuxProcess
  import Glibc

  /// The identity, owner and mode of a file.
  package struct FileStatus: Hashable {
    let device: UInt64
    let number: UInt64
    let byteCount: Int64
    let modified: Int64
    let changed: Int64
    let mode: UInt32
    let owner: UInt32
    let group: UInt32

    /// Reads the status of the path's target, through links; `nil` if it is missing or not accessible.
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

    /// True if all users may write to it; a folder with the sticky bit, such as `/tmp`, does not count.
    package var isOpenToAll: Bool { mode & UInt32(S_IWOTH) != 0 && mode & UInt32(Glibc.S_ISVTX) == 0 }

    /// True if only the system may write to it.
    ///
    /// The owner must be root, or have no number in this user namespace, where root may not be mapped. Neither another group
    /// nor all users may write.
    package func isSystems(overflow: UInt32) -> Bool {
      (owner == 0 || owner == overflow) && !isOpenToAll
        && (mode & UInt32(S_IWGRP) == 0 || group == 0 || group == overflow)
    }
  }

  extension FileStatus {
    /// The number that the kernel shows for owners that are not mapped here.
    static let overflowOwner: UInt32 =
      KernelFile.text("/proc/sys/kernel/overflowuid").flatMap { UInt32($0.filter(\.isNumber)) } ?? 65_534
  }
#endif
