import SignetCrypto
import SignetSystem

/// A small file of the operator: checked before it is read, and synchronized to disk when it is written.
struct FolderFile {
  /// The permission bits that a file must not have: `secret` denies other users everything, `plain` denies writing.
  enum Access: UInt32 { case secret = 0o077, plain = 0o022 }

  let path: String
  let access: Access

  init(_ path: String, _ access: Access) { (self.path, self.access) = (path, access) }

  /// The default maximum size of a file, in bytes.
  static let maximumByteCount = 65_536

  /// Reads the whole file.
  ///
  /// A file within the folder must not be a link. One that the settings name with a full path may be a link, and may belong
  /// to root, as certificates of an ACME client do.
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

  /// Checks owner and mode of a file that another component reads; the file may be missing.
  func checkIfPresent() throws(DataDirectoryFailure) {
    do throws(FileFailure) { try FileRule(forbiddenMode: access.rawValue).check(path) } catch {
      guard error == .missing else { throw DataDirectoryFailure(reading: path, error) }
    }
  }

  /// Creates the file with mode 0600; its content is on disk when this returns, its name when the folder is synchronized.
  func create(_ content: borrowing SecretBytes) throws(DataDirectoryFailure) {
    do throws(FileFailure) {
      try content.withBytes { (bytes) throws(FileFailure) in try PrivateFile.create(path, bytes) }
    } catch { throw .unwritable(path: path, errno: error.code) }
  }

  /// Replaces the content, mode 0600: after a power failure the file has the old content or the whole new one.
  func replace(_ content: borrowing SecretBytes) throws(DataDirectoryFailure) {
    do throws(FileFailure) {
      try content.withBytes { (bytes) throws(FileFailure) in
        try PrivateFile.place(bytes, at: path, .replacing)
      }
    } catch { throw .unwritable(path: path, errno: error.code) }
  }

  /// Synchronizes the names in a folder to disk.
  static func synchronize(folder path: String) throws(DataDirectoryFailure) {
    do throws(FileFailure) { try OpenFile.synchronizeFolder(path) } catch {
      throw .unwritable(path: path, errno: error.code)
    }
  }
}
