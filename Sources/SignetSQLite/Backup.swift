import CSQLite

extension Database {
  /// Writes what is committed at this moment into a new file of mode 0600, which needs no other file beside it.
  ///
  /// Other connections, of other processes too, read and write meanwhile. The copy is on the disk when this returns; after a failure
  /// what is at `path` is to be removed.
  ///
  /// The corresponding C functions are those of <https://www.sqlite.org/c3ref/backup_finish.html>.
  ///
  /// - Parameters:
  ///   - path: Where no file is yet.
  ///   - patience: How long another connection may keep the file from being read.
  /// - Throws: ``SQLiteFailure``: `corrupt`, `diskFull`, `cannotOpen`, `busy`.
  public func backUp(to path: String, patience: Duration = .seconds(60)) throws(SQLiteFailure) {
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
    // In one step: of the file as it is at one moment. In this mode of the file readers and writers do not wait for each other.
    // Another connection is in the way only where it recovers the log, or was opened by a program that locks otherwise.
    let end = ContinuousClock.now + patience
    var step = unsafe sqlite3_backup_step(backup, -1)
    while Self.isBusy(step), ContinuousClock.now < end {
      sqlite3_sleep(5)
      step = unsafe sqlite3_backup_step(backup, -1)
    }
    let result = unsafe sqlite3_backup_finish(backup)
    // Which the copy's connection does not tell: for SQLite it is no failure of the backup.
    guard !Self.isBusy(step) else { throw .busy(extendedCode: step) }
    guard step == SQLITE_DONE, result == SQLITE_OK else { throw unsafe failure(of: copy) }
    // A log beside the copy would have to be kept with it. The next who opens it for writing switches back.
    for script in ["PRAGMA synchronous = FULL", "PRAGMA journal_mode = DELETE"] {
      guard unsafe sqlite3_exec(copy, script, nil, nil, nil) == SQLITE_OK else {
        throw unsafe failure(of: copy)
      }
    }
  }

  /// Whether a result, which may be an extended one, says that another connection was in the way.
  private static func isBusy(_ code: Int32) -> Bool { [SQLITE_BUSY, SQLITE_LOCKED].contains(code & 0xFF) }

  /// Looks through the whole file.
  ///
  /// - Throws: ``SQLiteFailure``: `corrupt` where it is damaged, or where a row refers to one that is not there.
  public func checkIntegrity() throws(SQLiteFailure) {
    guard try query("PRAGMA integrity_check(1)").first?[0] == .text("ok"),
      try query("PRAGMA foreign_key_check").isEmpty
    else { throw SQLiteFailure(extended: SQLITE_CORRUPT, systemError: 0, message: "") }
  }
}
