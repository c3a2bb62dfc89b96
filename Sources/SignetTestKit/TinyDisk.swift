#if os(Linux)
  import Foundation

  /// A small file system in memory, for tests of a full disk, unmounted with its last reference.
  package final class TinyDisk {
    /// Where it is mounted.
    package let folder: TemporaryFolder

    /// Mounts one.
    ///
    /// - Parameters:
    ///   - kilobytes: Its size.
    ///   - ignoresSetID: Whether programs in it get no rights of their own from their files (`nosuid`).
    /// - Throws: What the file system says, as where mounting needs rights that the process has not.
    package init(kilobytes: Int, ignoresSetID: Bool = false) throws {
      folder = try TemporaryFolder()
      let flags = ignoresSetID ? UInt(MS_NOSUID) : 0
      guard mount("tmpfs", folder.path, "tmpfs", flags, Self.size(kilobytes)) == 0 else {
        throw CocoaError(.fileWriteUnknown)
      }
    }

    /// Gives it another size.
    ///
    /// - Throws: What the file system says, as where more than that is used.
    package func resize(kilobytes: Int) throws {
      guard mount("tmpfs", folder.path, "tmpfs", UInt(MS_REMOUNT), Self.size(kilobytes)) == 0 else {
        throw CocoaError(.fileWriteUnknown)
      }
    }

    private static func size(_ kilobytes: Int) -> String { "size=\(kilobytes)k,mode=700" }

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
