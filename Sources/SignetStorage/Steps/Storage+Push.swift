import SignetSQL

extension Storage {
  /// Adds a target, unless its container is not in use or has `limit` of them.
  ///
  /// - Returns: Whether it was added.
  public func addPushTarget(
    _ target: PushTargetRecord, limit: Int, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      let container = try database.requireActiveUser(ofContainer: target.container)
      let count = try database.number(
        "SELECT count(*) FROM push_targets WHERE container = $1", [.text(target.container)])
      guard container?.state == .active, count ?? 0 < limit else { return false }
      try database.insert(target)
      try database.appendRepeatable(audit, of: .container(target.container))
      return true
    }
  }

  /// A container's targets, oldest first.
  public func pushTargets(container: String) async throws(StorageFailure) -> [PushTargetRecord] {
    try await read { database in
      try database.rows(
        "SELECT \(PushTargetRecord.columns) FROM push_targets WHERE container = $1 ORDER BY created, id",
        [.text(container)]
      ) { try PushTargetRecord($0) }
    }
  }

  /// The targets of a user's containers in use, oldest first.
  public func pushTargets(user: String) async throws(StorageFailure) -> [PushTargetRecord] {
    try await read { database in
      try database.rows(
        """
        SELECT push_targets.* FROM push_targets JOIN containers ON containers.id = push_targets.container
        WHERE containers.user_id = $1 AND containers.state = 'active' ORDER BY push_targets.created, push_targets.id
        """, [.text(user)]
      ) { try PushTargetRecord($0) }
    }
  }

  /// Changes the name of a container's target, what it is, or both.
  ///
  /// - Returns: Whether there is such a target.
  /// - Throws: ``StorageFailure/userNotActive(_:)`` when the container's user is not active.
  public func changePushTarget(
    _ id: String, of container: String, name: String?, target: (service: String, sealed: [UInt8])?,
    audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      try database.requireActiveUser(ofContainer: container)
      guard
        try database.execute(
          """
          UPDATE push_targets SET name = coalesce($3, name), service = coalesce($4, service),
            sealed_target = coalesce($5, sealed_target)
          WHERE id = $1 AND container = $2
          """,
          [
            .text(id), .text(container), .optional(name), .optional(target?.service),
            .optional(target?.sealed),
          ]) == 1
      else { return false }
      try database.appendRepeatable(audit, of: .container(container))
      return true
    }
  }

  /// Removes a container's target.
  ///
  /// - Parameters:
  ///   - id: The target.
  ///   - container: Whose it is.
  ///   - sealed: What it has to be still; `nil` for whatever it is.
  ///   - audit: The event, written where it is removed.
  /// - Returns: Whether it was removed.
  /// - Throws: ``StorageFailure``.
  public func removePushTarget(
    _ id: String, of container: String, ifSealed sealed: [UInt8]?, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard
        try database.execute(
          "DELETE FROM push_targets WHERE id = $1 AND container = $2 AND (sealed_target = $3 OR $3 IS NULL)",
          [.text(id), .text(container), .optional(sealed)]) == 1
      else { return false }
      try database.appendRepeatable(audit, of: .container(container))
      return true
    }
  }

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
      var users: Set<String> = []
      for (lane, number) in last.last where number > cursor[lane] {
        users.formUnion(
          try database.rows(
            "SELECT DISTINCT user_id FROM transaction_changes WHERE lane = $1 AND number > $2",
            [.integer(lane), .integer(cursor[lane])]
          ) { try $0.text(0) })
      }
      return TransactionChanges(users: Array(users), last: last)
    }
  }
}

extension SQLConnection {
  private static let lastChange = TransactionLocal<Int64>()

  /// Tells who waits, in every process, that a transaction of its user changed, or has ended where the caller does not know; of one
  /// without a user nobody waits.
  func noteChange(of transaction: String) throws {
    let found = try row(
      "SELECT user_id, state, coalesce(decided, expires) FROM transactions WHERE id = $1",
      [.text(transaction)]
    ) { (user: try $0.optional(0, $0.text), state: try $0.text(1), end: try $0.integer(2)) }
    guard let found else { return }
    if found.state != TransactionRecord.State.pending.rawValue {
      try noteEnd(of: transaction, user: found.user, at: found.end)
    } else if let user = found.user {
      try noteChange(ofUser: user)
    }
  }

  /// Tells who waits that a transaction has ended, which its row says by now.
  ///
  /// All that ends a transaction comes through here, once, so here ends what its user was asked by in other ways, and receivers of the
  /// outbox are told.
  func noteEnd(of transaction: String, user: String?, at time: Int64) throws {
    if let user { try noteChange(ofUser: user) }
    let client = try endAsking(of: transaction, at: time)
    try publish(OutboxEvent(.requestEnded, of: transaction, user: user), at: time, alsoTo: client)
  }

  /// Tells who waits that a container's list is another one, or that the container ended.
  func noteChange(ofContainer id: String) throws {
    let user = try row("SELECT user_id FROM containers WHERE id = $1", [.text(id)]) { try $0.text(0) }
    if let user { try noteChange(ofUser: user) }
  }

  /// Tells who waits for a user that something changed.
  func noteChange(ofUser user: String) throws {
    let number =
      try local(Self.lastChange) {
        try self.number(
          "SELECT coalesce(max(number), 0) FROM transaction_changes WHERE lane = $1", [.integer(lane)]) ?? 0
      } + 1
    try execute(
      "INSERT INTO transaction_changes (lane, number, user_id) VALUES ($1, $2, $3)",
      [.integer(lane), .integer(number), .text(user)], changing: 1)
    setLocal(Self.lastChange, to: number)
  }

  /// Forgets changes for which nobody can still be waiting: those that were there at a sweep ten minutes ago.
  ///
  /// The last one of each lane stays, so that no number is given twice.
  func sweepChanges(at time: Int64) throws {
    for (lane, last) in try lastChanges().last {
      _ = try execute(
        "DELETE FROM transaction_changes WHERE lane = $1 AND number < $2 AND swept <= $3",
        [.integer(lane), .integer(last), .integer(time - 600)])
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
