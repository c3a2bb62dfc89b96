import SignetSQLite

/// The SQLite file of a server, for checks and copies.
package enum StorageFile {
  /// Determines if a file is a database that has tables; unlike the opening of a storage, it creates nothing.
  ///
  /// - Parameters:
  ///   - path: An existing file.
  ///   - isBackup: True if the file is a copy, which must not be changed.
  /// - Returns: `true` if there is a table.
  /// - Throws: ``StorageFailure``.
  package static func hasTables(at path: String, isBackup: Bool) throws(StorageFailure) -> Bool {
    do {
      let database = try Database(path: path, mode: isBackup ? .readOnly : .readWrite)
      return try database.query("SELECT 1 FROM sqlite_schema LIMIT 1").first != nil
    } catch { throw StorageFailure(error) }
  }

  /// Copies the committed state into a new file of mode 0600, and verifies the copy; the file may be in use.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - copy: The path of the copy, which must not exist. After a failure, the caller has to remove a partial copy.
  ///   - isBackup: True if the file is itself a copy, which must not be changed.
  /// - Throws: ``StorageFailure``.
  package static func copy(_ path: String, to copy: String, isBackup: Bool) throws(StorageFailure) {
    do {
      try Database(path: path, mode: isBackup ? .readOnly : .readWrite).backUp(to: copy)
      try Database(path: copy, mode: .readOnly).checkIntegrity()
    } catch { throw StorageFailure(error) }
  }
}
