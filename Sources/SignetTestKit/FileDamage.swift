import Foundation

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
