#if os(Linux)
  import Foundation

  /// A small memory-backed file system, for tests of a full disk; unmounted with its last reference.
  package final class TinyDisk {
    package let folder: TemporaryFolder

    /// Mounts a file system.
    ///
    /// - Parameters:
    ///   - kilobytes: Its size.
    ///   - ignoresSetID: True to ignore set-ID bits of its programs (`nosuid`).
    /// - Throws: The system's error, for example if the process may not mount.
    package init(kilobytes: Int, ignoresSetID: Bool = false) throws {
      folder = try TemporaryFolder()
      let flags = ignoresSetID ? UInt(MS_NOSUID) : 0
      guard mount("tmpfs", folder.path, "tmpfs", flags, Self.size(kilobytes)) == 0 else {
        throw CocoaError(.fileWriteUnknown)
      }
    }

    /// Changes the size.
    ///
    /// - Throws: The system's error, for example if more than that is used.
    package func resize(kilobytes: Int) throws {
      guard mount("tmpfs", folder.path, "tmpfs", UInt(MS_REMOUNT), Self.size(kilobytes)) == 0 else {
        throw CocoaError(.fileWriteUnknown)
      }
    }

    private static func size(_ kilobytes: Int) -> String { "size=\(kilobytes)k,mode=700" }

    deinit { umount2(folder.path, 2 /* MNT_DETACH: open files do not keep it */) }

    /// True if this machine allows the test to mount; containers often do not, even for root.
    ///
    /// In CI it is always true, so that a failure is reported.
    package static var isPossible: Bool {
      if ContinuousIntegration.isHere { return true }
      do {
        _ = try TinyDisk(kilobytes: 4)
        return true
      } catch { return false }
    }
  }
#endif
