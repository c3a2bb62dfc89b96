import Foundation

/// A test's own folder, deleted with its last reference.
public final class TemporaryFolder: Sendable {
  /// The path of the folder.
  public let path: String

  /// Creates a folder.
  ///
  /// - Parameter mode: Its exact permission bits; a test that drops root's rights and continues in the folder needs 0o777.
  /// - Throws: The error of the file system.
  public init(mode: Int = 0o700) throws {
    path = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  deinit {
    do {
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
      try FileManager.default.removeItem(atPath: path)
    } catch {}  // the machine cleans up
  }

  /// Returns the path of a file in the folder, which need not exist.
  public func file(_ name: String) -> String { "\(path)/\(name)" }
}

/// Returns the permission bits of a file without following links; nil if it is missing.
package func permissions(of path: String) -> Int? {
  var status = stat()
  return lstat(path, &status) == 0 ? Int(status.st_mode & 0o7777) : nil
}

/// Switches from root to the user 65534, for tests of refused access; call it only in a child process.
package func dropPrivileges() {
  if geteuid() == 0 { precondition(setgid(65534) == 0 && setuid(65534) == 0) }
}

/// Overwrites a file in place with 0xFF from an offset on; its length stays, and processes that have it open see the damage.
///
/// - Parameters:
///   - path: The file.
///   - offset: The start of the damage, in bytes.
/// - Throws: Foundation's error if the file cannot be opened, read or written.
package func damageFile(_ path: String, from offset: Int) throws {
  let file = try FileHandle(forUpdating: URL(filePath: path))
  let size = Int(try file.seekToEnd())
  precondition(size > offset, "\(path) has \(size) bytes, and none to damage from \(offset) on")
  try file.seek(toOffset: UInt64(offset))
  try file.write(contentsOf: Data(repeating: 0xFF, count: size - offset))
  try file.close()
}
