import SignetSQLite

/// An SQLite file of a server, as a file.
public enum StorageFile {
  /// Whether a file is a database with tables in it; other than when it is opened for use, nothing is made.
  ///
  /// - Parameters:
  ///   - path: A file that exists.
  ///   - isBackup: Whether the file is a copy, in which nothing may change.
  /// - Returns: Whether there are any.
  /// - Throws: ``StorageFailure``.
  public static func hasTables(at path: String, isBackup: Bool) throws(StorageFailure) -> Bool {
    do {
      let database = try Database(path: path, mode: isBackup ? .readOnly : .readWrite)
      return try database.query("SELECT 1 FROM sqlite_schema LIMIT 1").first != nil
    } catch { throw StorageFailure(error) }
  }

  /// Copies what is committed at this moment into a new file of mode 0600, and verifies the copy; the file may be in use.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - copy: Where no file is yet. After a failure what is there is to be removed.
  ///   - isBackup: Whether the file is a copy itself, in which nothing may change.
  /// - Throws: ``StorageFailure``.
  public static func copy(_ path: String, to copy: String, isBackup: Bool) throws(StorageFailure) {
    do {
      try Database(path: path, mode: isBackup ? .readOnly : .readWrite).backUp(to: copy)
      try Database(path: copy, mode: .readOnly).checkIntegrity()
    } catch { throw StorageFailure(error) }
  }
}
