import SignetSQL

extension Storage {
  /// Returns the users whose transactions were added, decided or ended after a position, by any process.
  ///
  /// - Parameter cursor: The caller's position; `nil` asks only for the position of the last change.
  /// - Returns: The users, at least for ten minutes after the change, and the position of the last change.
  /// - Throws: ``StorageFailure``.
  package func transactionChanges(after cursor: LogCursor?) async throws(StorageFailure) -> TransactionChanges
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

  /// Notifies the waiting devices of a transaction's user, in every process, that it was changed or has ended.
  ///
  /// No device waits for a transaction without a user.
  func recordChange(of transaction: TransactionID) throws {
    let found = try row(
      "SELECT user_id, state, coalesce(decided, expires) FROM transactions WHERE id = $1",
      [.of(transaction)]
    ) { (user: try $0.optional(0, $0.user), state: try $0.text(1), end: try $0.integer(2)) }
    guard let found else { return }
    if found.state != TransactionRecord.State.pending.rawValue {
      try recordEnd(of: transaction, user: found.user, at: found.end)
    } else if let user = found.user {
      try recordChange(ofUser: user)
    }
  }

  /// Records the end of a transaction, which its row contains already, and notifies the waiting devices.
  ///
  /// Every end of a transaction calls this once. So this also ends the messages that asked the user, and publishes the end
  /// to the outbox.
  func recordEnd(of transaction: TransactionID, user: UserID?, at time: Int64) throws {
    if let user { try recordChange(ofUser: user) }
    let client = try endMessages(of: transaction, at: time)
    try publish(OutboxEvent(.requestEnded, of: transaction.text, user: user?.text), at: time, alsoTo: client)
  }

  /// Notifies the waiting devices of a user that something changed.
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

  /// Returns the next number of a lane of a table.
  ///
  /// - Throws: ``StorageFailure/failed(detail:)`` if the last number is the largest one, which this server never writes.
  func number(after last: Int64, in table: String) throws -> Int64 {
    guard last < .max else {
      throw StorageFailure.failed(
        detail:
          "the last number in \(table) was not written by this server; restore the database from a backup")
    }
    return last + 1
  }

  /// Removes changes that every waiting device must have seen: those that a sweep found ten minutes ago or earlier.
  ///
  /// The last change of each lane is kept, without its user, so that no number is used twice.
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
