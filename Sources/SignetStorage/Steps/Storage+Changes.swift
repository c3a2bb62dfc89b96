import SignetSQL

extension Storage {
  /// Whose transactions were added, decided or ended after a change, by any process.
  ///
  /// - Parameter cursor: What the caller knows; `nil` asks for the position of the last change only.
  /// - Returns: The users, for ten minutes at least after the change, and the position of the last one.
  /// - Throws: ``StorageFailure``.
  public func transactionChanges(after cursor: LogCursor?) async throws(StorageFailure) -> TransactionChanges
  {
    try await read { database in
      let last = try database.lastChanges()
      guard let cursor else { return TransactionChanges(users: [], last: last) }
      var users: Set<UserID> = []
      for (lane, number) in last.last where number > cursor[lane] {
        users.formUnion(
          try database.rows(
            """
            SELECT DISTINCT user_id FROM transaction_changes WHERE lane = $1 AND number > $2 AND user_id <> ''
            """,
            [.integer(lane), .integer(cursor[lane])]
          ) { try $0.user(0) })
      }
      return TransactionChanges(users: Array(users), last: last)
    }
  }
}

extension SQLConnection {
  private static let lastChange = TransactionLocal<Int64>()

  /// Tells who waits, in every process, that a transaction of its user changed, or has ended where the caller does not know; of one
  /// without a user nobody waits.
  func recordChange(of transaction: TransactionID) throws {
    let found = try row(
      "SELECT user_id, state, coalesce(decided, expires) FROM transactions WHERE id = $1",
      [.of(transaction)]
    ) { (user: try $0.optional(0, $0.user), state: try $0.text(1), end: try $0.integer(2)) }
    guard let found else { return }
    if found.state != TransactionRecord.State.pending.rawValue {
      try noteEnd(of: transaction, user: found.user, at: found.end)
    } else if let user = found.user {
      try recordChange(ofUser: user)
    }
  }

  /// Tells who waits that a transaction has ended, which its row says by now.
  ///
  /// All that ends a transaction comes through here, once, so here ends what its user was asked by in other ways, and receivers of the
  /// outbox are told.
  func noteEnd(of transaction: TransactionID, user: UserID?, at time: Int64) throws {
    if let user { try recordChange(ofUser: user) }
    let client = try endAsking(of: transaction, at: time)
    try publish(OutboxEvent(.requestEnded, of: transaction.text, user: user?.text), at: time, alsoTo: client)
  }

  /// Tells who waits for a user that something changed.
  func recordChange(ofUser user: UserID) throws {
    let last = try local(Self.lastChange) {
      try self.number(
        "SELECT coalesce(max(number), 0) FROM transaction_changes WHERE lane = $1", [.integer(lane)]) ?? 0
    }
    let number = try self.number(after: last, in: "transaction_changes")
    try execute(
      "INSERT INTO transaction_changes (lane, number, user_id) VALUES ($1, $2, $3)",
      [.integer(lane), .integer(number), .of(user)], changing: 1)
    setLocal(Self.lastChange, to: number)
  }

  /// The next number of a lane of a table.
  ///
  /// - Throws: ``StorageFailure/failed(detail:)`` where there is none: somebody else has written the last one.
  func number(after last: Int64, in table: String) throws -> Int64 {
    guard last < .max else {
      throw StorageFailure.failed(
        detail:
          "the last number in \(table) was not written by this server; restore the database from a backup")
    }
    return last + 1
  }

  /// Forgets changes for which nobody can still be waiting: those that were there at a sweep ten minutes ago.
  ///
  /// The last one of each lane stays, so that no number is given twice; whose it was is forgotten.
  func sweepChanges(at time: Int64) throws {
    for (lane, last) in try lastChanges().last {
      _ = try execute(
        "DELETE FROM transaction_changes WHERE lane = $1 AND number < $2 AND swept <= $3",
        [.integer(lane), .integer(last), .integer(time - 600)])
      _ = try execute(
        "UPDATE transaction_changes SET user_id = '' WHERE lane = $1 AND user_id <> '' AND swept <= $2",
        [.integer(lane), .integer(time - 600)])
      _ = try execute(
        "UPDATE transaction_changes SET swept = $1 WHERE lane = $2 AND swept IS NULL",
        [.integer(time), .integer(lane)])
    }
  }

  fileprivate func lastChanges() throws -> LogCursor {
    var cursor = LogCursor()
    for lane in try lanes(of: "transaction_changes") {
      let last = try number("SELECT max(number) FROM transaction_changes WHERE lane = $1", [.integer(lane)])
      cursor.advance(to: last ?? 0, in: lane)
    }
    return cursor
  }
}
