import Foundation

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
