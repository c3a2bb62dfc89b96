package import SignetSQLite
package import SignetTestKit

extension TemporaryFolder {
  /// Changes the SQLite database of a server in the folder as somebody does who can write it and lacks the master key.
  ///
  /// - Parameters:
  ///   - statement: The statement.
  ///   - values: The values of its parameters.
  /// - Throws: ``StorageContract/Failure`` if no row was changed, and what the database says.
  package func tamper(_ statement: String, _ values: [SQLiteValue]) throws {
    let database = try Database(path: file("signet.sqlite"), mode: .readWrite)
    // Who writes the database is kept from nothing by its constraints.
    try database.execute("PRAGMA foreign_keys = OFF")
    try database.execute(statement, values)
    guard database.changes > 0 else {
      throw StorageContract.Failure(description: "\(statement) changed nothing")
    }
  }
}
