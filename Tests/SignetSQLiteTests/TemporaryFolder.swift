import Foundation

/// A folder of its own for a test, deleted with the last reference.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
    chmod(path, 0o777)  // tests that give up root's rights still write here
  }

  deinit {
    chmod(path, 0o777)
    do { try FileManager.default.removeItem(atPath: path) } catch {}
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }
}

/// The permission bits of a file.
func permissions(_ path: String) throws -> Int {
  let attributes = try FileManager.default.attributesOfItem(atPath: path)
  return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
}

/// Root may write anywhere: tests of refusals go on as nobody.
func giveUpRoot() {
  if geteuid() == 0 { precondition(setgid(65534) == 0 && setuid(65534) == 0) }
}

/// A small file system in memory, unmounted with the last reference.
final class TinyDisk {
  let folder: TemporaryFolder

  init(kilobytes: Int) throws {
    folder = try TemporaryFolder()
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
      throw CocoaError(.fileWriteUnknown)
    }
  }

  deinit { umount2(folder.path, 2 /* MNT_DETACH: open files do not keep it */) }

  /// Whether this machine lets the test mount; containers often do not, even for root.
  static var isPossible: Bool {
    do {
      _ = try TinyDisk(kilobytes: 4)
      return true
    } catch { return false }
  }
}
