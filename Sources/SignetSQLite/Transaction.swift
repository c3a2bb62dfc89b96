extension Database {
  /// The time at which a transaction takes the write lock.
  package enum TransactionKind: String, Sendable {
    /// At its first write: for transactions that only read, from one consistent state.
    case deferred = "DEFERRED"
    /// At the start, so that data that the transaction reads cannot change before it writes.
    case immediate = "IMMEDIATE"
  }

  /// Runs `body` in a transaction: committed and durable when this returns, rolled back if anything throws.
  ///
  /// - Precondition: No transaction is open; inside one, use ``savepoint(_:)``.
  /// - Throws: The errors of `body`, and ``SQLiteFailure`` for the transaction itself.
  package func transaction<R: ~Copyable>(
    _ kind: TransactionKind = .immediate, _ body: () throws -> R
  ) throws -> R {
    precondition(!isInTransaction, "a transaction is open already; use savepoint inside it")
    try execute("BEGIN \(kind.rawValue)")
    isTransactionExpected = true
    do {
      let result = try body()
      try execute("COMMIT")
      isTransactionExpected = false
      return result
    } catch {
      isTransactionExpected = false
      rollBack("ROLLBACK")
      throw error
    }
  }

  /// Runs `body` inside the open transaction; if it throws, its changes are rolled back and the transaction continues.
  ///
  /// - Precondition: A transaction is open.
  /// - Throws: The errors of `body`, and ``SQLiteFailure`` for the savepoint itself.
  package func savepoint<R: ~Copyable>(_ body: () throws -> R) throws -> R {
    precondition(isTransactionExpected, "a savepoint needs an open transaction")
    savepointDepth += 1
    defer { savepointDepth -= 1 }
    let name = savepointDepth == 1 ? "level1" : "level\(savepointDepth)"
    try execute("SAVEPOINT \(name)")
    do {
      let result = try body()
      try execute("RELEASE \(name)")
      return result
    } catch {
      rollBack("ROLLBACK TO \(name)")
      rollBack("RELEASE \(name)")
      throw error
    }
  }

  /// Moves the write-ahead log into the database file and truncates it, so that it retains no earlier content.
  ///
  /// Call this after a deletion of secrets: `secure_delete` overwrites pages, but the log holds copies of them.
  ///
  /// - Throws: ``SQLiteFailure``; `busy` if another connection has an open transaction.
  package func checkpoint() throws(SQLiteFailure) {
    guard try query("PRAGMA wal_checkpoint(TRUNCATE)").first?[0] == .integer(0) else {
      throw .busy(extendedCode: 5)
    }
  }

  /// Rolls back; fails only if SQLite has rolled back already, or will do so when the file is next opened.
  private func rollBack(_ sql: String) {
    guard isInTransaction else { return }
    do { try execute(sql) } catch {}
  }
}
