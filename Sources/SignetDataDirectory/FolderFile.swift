import SignetCrypto
import SignetFiles

/// A small file of the operator's, checked before it is trusted and on the disk before it is named.
struct FolderFile {
  /// The permission bits that a file may not have: others may do nothing, or read.
  enum Access: UInt32 { case secret = 0o077, plain = 0o022 }

  let path: String
  let access: Access

  init(_ path: String, _ access: Access) { (self.path, self.access) = (path, access) }

  /// The largest file that is read, in bytes, unless a caller says otherwise.
  static let maximumByteCount = 65_536

  /// Reads the whole file.
  ///
  /// A file within the folder may be no link; one that settings name with a full path may be, and may belong to root,
  /// as certificates of an ACME client do.
  func read(
    isOutsideFolder: Bool = false, limit: Int = maximumByteCount
  ) throws(DataDirectoryFailure) -> SecretBytes {
    let rule = FileRule(isOutsideFolder ? .foreignFile : .file, forbiddenMode: access.rawValue)
    do throws(FileFailure) {
      let file = try OpenFile.reading(path, as: rule)
      let byteCount = try file.byteCount(limit: limit)
      return try SecretBytes(byteCount: byteCount) { (output) throws(FileFailure) in
        try file.fill(&output)
      }
    } catch { throw DataDirectoryFailure(reading: path, error) }
  }

  /// Checks owner and mode of a file that somebody else reads, and that need not exist.
  func checkIfPresent() throws(DataDirectoryFailure) {
    do throws(FileFailure) { try FileRule(forbiddenMode: access.rawValue).check(path) } catch {
      guard error == .missing else { throw DataDirectoryFailure(reading: path, error) }
    }
  }

  /// Makes the file with mode 0600; its content is on the disk when this returns, its name when the folder is.
  func create(_ content: borrowing SecretBytes) throws(DataDirectoryFailure) {
    do throws(FileFailure) {
      try content.withBytes { (bytes) throws(FileFailure) in try PrivateFile.create(path, bytes) }
    } catch { throw .unwritable(path: path, errno: error.code) }
  }

  /// Puts other content in its place, mode 0600: after a power cut there is what was before, or all of this.
  func replace(_ content: borrowing SecretBytes) throws(DataDirectoryFailure) {
    do throws(FileFailure) {
      try content.withBytes { (bytes) throws(FileFailure) in
        try PrivateFile.place(bytes, at: path, .replacing)
      }
    } catch { throw .unwritable(path: path, errno: error.code) }
  }

  /// Puts the names in a folder on the disk.
  static func synchronize(folder path: String) throws(DataDirectoryFailure) {
    do throws(FileFailure) { try OpenFile.synchronizeFolder(path) } catch {
      throw .unwritable(path: path, errno: error.code)
    }
  }
}
