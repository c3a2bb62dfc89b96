import CSQLite

extension Database {
  /// Writes the committed state into a new file of mode 0600, which needs no `-wal` file.
  ///
  /// Other connections, also of other processes, can read and write in the meantime. The copy is on the disk when this
  /// returns. After a failure, the caller has to remove a partial file at `path`.
  ///
  /// The corresponding C functions are those of <https://www.sqlite.org/c3ref/backup_finish.html>.
  ///
  /// - Parameters:
  ///   - path: The path of the copy, which must not exist.
  ///   - patience: The time for which another connection may block the reading of the file.
  /// - Throws: ``SQLiteFailure``: `corrupt`, `diskFull`, `cannotOpen`, `busy`.
  package func backUp(to path: String, patience: Duration = .seconds(60)) throws(SQLiteFailure) {
    try Self.makeFile(path)
    var opened: OpaquePointer?
    let code = unsafe sqlite3_open_v2(
      path, &opened,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE, nil)
    guard let copy = unsafe opened else {
      throw SQLiteFailure(extended: SQLITE_NOMEM, systemError: 0, message: "")
    }
    defer { unsafe sqlite3_close_v2(copy) }
    guard code == SQLITE_OK else { throw unsafe failure(of: copy) }
    guard let backup = unsafe sqlite3_backup_init(copy, "main", connection, "main") else {
      throw unsafe failure(of: copy)
    }
    // All pages in one step, so that the copy has one state of the file. In WAL mode readers and writers do not wait for each
    // other. Another connection blocks the backup only while it recovers the log, or if its program uses an exclusive locking mode.
    let end = ContinuousClock.now + patience
    var step = unsafe sqlite3_backup_step(backup, -1)
    while Self.isBusy(step), ContinuousClock.now < end {
      sqlite3_sleep(5)
      step = unsafe sqlite3_backup_step(backup, -1)
    }
    let result = unsafe sqlite3_backup_finish(backup)
    // The copy's connection does not report this, because SQLite does not treat it as a failure of the backup.
    guard !Self.isBusy(step) else { throw .busy(extendedCode: step) }
    guard step == SQLITE_DONE, result == SQLITE_OK else { throw unsafe failure(of: copy) }
    // Without WAL, because a log of the copy would have to be kept with it. The next connection that writes switches back.
    for script in ["PRAGMA synchronous = FULL", "PRAGMA journal_mode = DELETE"] {
      guard unsafe sqlite3_exec(copy, script, nil, nil, nil) == SQLITE_OK else {
        throw unsafe failure(of: copy)
      }
    }
  }

  /// Returns `true` if a result code, which may be extended, means that another connection was in the way.
  private static func isBusy(_ code: Int32) -> Bool { [SQLITE_BUSY, SQLITE_LOCKED].contains(code & 0xFF) }

  /// Checks the whole file.
  ///
  /// - Throws: ``SQLiteFailure``: `corrupt` if it is damaged, or if a row references a missing one.
  package func checkIntegrity() throws(SQLiteFailure) {
    guard try query("PRAGMA integrity_check(1)").first?[0] == .text("ok"),
      try query("PRAGMA foreign_key_check").isEmpty
    else { throw SQLiteFailure(extended: SQLITE_CORRUPT, systemError: 0, message: "") }
  }
}
