package import SignetSQLite
package import SignetTestKit

extension TemporaryFolder {
  /// Changes a server's SQLite database in the folder, like an attacker with write access to the database but without the
  /// master key.
  ///
  /// - Parameters:
  ///   - statement: The statement.
  ///   - values: The values of its parameters.
  /// - Throws: ``StorageContract/Failure`` if no row was changed, and the database's error.
  package func tamper(_ statement: String, _ values: [SQLiteValue]) throws {
    let database = try Database(path: file("signet.sqlite"), mode: .readWrite)
    // Constraints do not stop such an attacker.
    try database.execute("PRAGMA foreign_keys = OFF")
    try database.execute(statement, values)
    guard database.changes > 0 else {
      throw StorageContract.Failure(description: "\(statement) changed nothing")
    }
  }
}
