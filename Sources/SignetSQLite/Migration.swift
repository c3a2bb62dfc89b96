/// One step of a schema: the SQL that takes a database from the previous version to ``version``.
///
/// Migrations are data. A published migration is never edited; the next is added.
package struct Migration: Sendable, Hashable {
  /// The version of the database after the step, stored in `PRAGMA user_version`; from 1, without gaps.
  package let version: Int
  /// One or more SQL statements.
  package let sql: String

  /// Creates a step.
  package init(version: Int, sql: String) {
    self.version = version
    self.sql = sql
  }
}

extension Database {
  /// Returns the version of the schema (`PRAGMA user_version`); 0 for a new file.
  package func schemaVersion() throws(SQLiteFailure) -> Int {
    guard case .integer(let version)? = try query("PRAGMA user_version").first?[0] else { return 0 }
    return Int(version)
  }

  /// Migrates the schema to the last of `migrations`, all missing steps in one transaction or none.
  ///
  /// Any number of processes may call this at the same time; one does the work.
  ///
  /// - Precondition: `migrations` are numbered 1, 2, 3 ….
  /// - Throws: ``SQLiteFailure``: ``SQLiteFailure/tooNew(found:supported:)`` if a newer program has written the file, which
  ///   is then not changed; otherwise the failures of the statements.
  package func migrate(_ migrations: [Migration]) throws {
    precondition(
      migrations.map(\.version) == Array(1..<(migrations.count + 1)), "number migrations 1, 2, 3 … in order")
    let found = try schemaVersion()
    if found == migrations.count { return }
    guard (0..<migrations.count).contains(found) else {
      throw SQLiteFailure.tooNew(found: found, supported: migrations.count)
    }
    try transaction(.immediate) {
      // Again under the write lock, because another process may have done some or all of the work.
      let found = try schemaVersion()
      guard (0...migrations.count).contains(found) else {
        throw SQLiteFailure.tooNew(found: found, supported: migrations.count)
      }
      for migration in migrations[found...] {
        try execute(script: migration.sql)
        try execute(script: "PRAGMA user_version = \(migration.version)")
      }
    }
  }
}
