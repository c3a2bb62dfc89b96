#if os(Linux)
  import Foundation

  /// A small file system in memory, for tests of a full disk, unmounted with its last reference.
  package final class TinyDisk {
    /// Where it is mounted.
    package let folder: TemporaryFolder

    /// Mounts one.
    ///
    /// - Throws: What the file system says, as where mounting needs rights that the process has not.
    package init(kilobytes: Int) throws {
      folder = try TemporaryFolder()
      guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
        throw CocoaError(.fileWriteUnknown)
      }
    }

    deinit { umount2(folder.path, 2 /* MNT_DETACH: open files do not keep it */) }

    /// Whether this machine lets the test mount; containers often do not, even for root.
    ///
    /// In CI it has to.
    package static var isPossible: Bool {
      if ContinuousIntegration.isHere { return true }
      do {
        _ = try TinyDisk(kilobytes: 4)
        return true
      } catch { return false }
    }
  }
#endif
