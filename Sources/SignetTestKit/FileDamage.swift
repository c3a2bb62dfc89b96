import Foundation

/// Damages a file in place: all from an offset on is 0xFF, for those too that have the file open, and its length stays.
///
/// - Parameters:
///   - path: The file.
///   - offset: Where the damage begins, in bytes.
/// - Throws: What Foundation throws for a file that cannot be opened, read or written.
package func damageFile(_ path: String, from offset: Int) throws {
  let file = try FileHandle(forUpdating: URL(filePath: path))
  let size = Int(try file.seekToEnd())
  precondition(size > offset, "\(path) has \(size) bytes, and none to damage from \(offset) on")
  try file.seek(toOffset: UInt64(offset))
  try file.write(contentsOf: Data(repeating: 0xFF, count: size - offset))
  try file.close()
}
