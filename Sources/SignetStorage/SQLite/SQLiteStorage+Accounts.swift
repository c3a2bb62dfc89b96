import SignetSQLite

extension SQLiteStorage {
  /// As ``AccountStorage`` says.
  public func accountState(of container: String) async throws(StorageFailure) -> AccountStateRecord? {
    try await reader.read { database in
      guard try !database.query("SELECT 1 FROM containers WHERE id = ?", .text(container)).isEmpty else {
        return nil
      }
      return try database.accountState(of: container)
    }
  }

  /// As ``AccountStorage`` says.
  public func setAccountPolicies(
    _ policies: [UInt8]?, of container: String, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      guard try database.isInUse(container) else { return false }
      var state = try database.accountState(of: container)
      state.policies = policies
      try database.store(state, of: container, isChanged: true)
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``AccountStorage`` says.
  public func setAccountChallenge(
    _ challenge: [UInt8], expires: Int64, of container: String
  ) async throws(StorageFailure) {
    try await writer.write { database in
      var state = try database.accountState(of: container)
      (state.challenge, state.challengeExpires) = (challenge, expires)
      try database.write(state, of: container)
    }
  }

  /// As ``AccountStorage`` says.
  public func takeAccountReport(
    _ attempt: AccountReportAttempt, audit: @escaping @Sendable (Bool) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      let isTaken = try database.take(attempt)
      try database.appendAudit(audit(isTaken))
      return isTaken
    }
  }

  /// As ``AccountStorage`` says.
  public func addAccountOrder(
    _ order: AccountOrderRecord, audit: AuditRecord
  ) async throws(StorageFailure) -> AccountOrderOutcome {
    try await writer.write { database in
      guard try database.isInUse(order.container) else { return .notInUse }
      if order.action == .unlock, try database.isToBeWiped(order.container) { return .toBeWiped }
      var state = try database.accountState(of: order.container)
      try database.add(order, to: &state)
      try database.store(state, of: order.container, isChanged: true)
      try database.appendAudit(audit)
      return .added
    }
  }

  /// As ``AccountStorage`` says.
  public func accountOrders(of container: String) async throws(StorageFailure) -> [AccountOrderRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM account_orders WHERE container = ? ORDER BY number", .text(container))
        .map { try AccountOrderRecord($0) }
    }
  }

  /// As ``AccountStorage`` says.
  public func receiveAccountOrder(
    _ id: String, of container: String, receipt: String, at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      let found = try database.query(
        "SELECT * FROM account_orders WHERE id = ? AND container = ?", .text(id), .text(container)
      ).first
      guard let order = try found.map({ try AccountOrderRecord($0) }) else { return false }
      guard order.receipt == nil else { return true }
      try database.execute(
        "UPDATE account_orders SET receipt = ?, received = ? WHERE id = ?", .text(receipt), .integer(time),
        .text(id))
      if order.action == .wipe {
        try database.execute(
          "UPDATE containers SET ended = 'wiped', state = 'revoked' WHERE id = ? AND ended IS NULL",
          .text(container))
        try database.removeCredential(container)
      }
      try database.noteChange(ofContainer: container)
      try database.appendAudit(audit)
      return true
    }
  }
}

extension Database {
  fileprivate func isInUse(_ container: String) throws(SQLiteFailure) -> Bool {
    try !query("SELECT 1 FROM containers WHERE id = ? AND state = 'active'", .text(container)).isEmpty
  }

  fileprivate func accountState(of container: String) throws(SQLiteFailure) -> AccountStateRecord {
    guard let row = try query("SELECT * FROM account_states WHERE container = ?", .text(container)).first
    else { return AccountStateRecord() }
    return try AccountStateRecord(row)
  }

  fileprivate func add(
    _ order: AccountOrderRecord, to state: inout AccountStateRecord
  ) throws(SQLiteFailure) {
    try execute(
      "INSERT INTO account_orders (id, container, action, reason, created) VALUES (?, ?, ?, ?, ?)",
      .text(order.id), .text(order.container), .text(order.action.rawValue), .text(order.reason),
      .integer(order.created))
    switch order.action {
    // What is to be deleted is good for nothing until it is.
    case .lock, .wipe: (state.isOrderedLocked, state.orderedReason) = (true, order.reason)
    case .unlock: (state.isOrderedLocked, state.orderedReason) = (false, "")
    }
  }

  /// Whether the container is to be deleted, and its device has not said that it is.
  fileprivate func isToBeWiped(_ container: String) throws(SQLiteFailure) -> Bool {
    try !query(
      "SELECT 1 FROM account_orders WHERE container = ? AND action = 'wipe' AND receipt IS NULL LIMIT 1",
      .text(container)
    ).isEmpty
  }

  fileprivate func take(_ attempt: AccountReportAttempt) throws -> Bool {
    guard try isInUse(attempt.container) else { return false }
    var state = try accountState(of: attempt.container)
    guard state.challenge == attempt.challenge, state.challengeExpires > attempt.time else { return false }
    let before = state
    (state.challenge, state.challengeExpires) = (nil, 0)
    (state.report, state.reported) = (attempt.report, attempt.time)
    (state.verdict, state.verdictReason) = (attempt.verdict, attempt.reason)
    var isOrdered = false
    if let order = attempt.order, try !isToBeWiped(attempt.container) {
      try add(order, to: &state)
      isOrdered = true
    }
    let isChanged = state.standing != before.standing || state.reason != before.reason || isOrdered
    try store(state, of: attempt.container, isChanged: isChanged)
    guard !isChanged, attempt.seen >= state.revision else { return true }
    // The device has heard of everything, and done it.
    try execute(
      """
      UPDATE containers SET report_wanted = 0 WHERE id = ?1 AND report_wanted > 0 AND NOT EXISTS
        (SELECT 1 FROM account_orders WHERE container = ?1 AND receipt IS NULL)
      """, .text(attempt.container))
    if changes > 0 { try noteChange(ofContainer: attempt.container) }
    return true
  }

  /// Writes a state down, and what follows from it for the container and its codes.
  fileprivate func store(
    _ state: AccountStateRecord, of container: String, isChanged: Bool
  ) throws(SQLiteFailure) {
    var state = state
    if isChanged { state.revision += 1 }
    try write(state, of: container)
    guard isChanged else { return }
    try execute(
      "UPDATE containers SET standing = ?, report_wanted = ? WHERE id = ?", .text(state.standing.rawValue),
      .integer(state.revision), .text(container))
    // Codes are compared with what is in use: nothing more is to be looked at for each of them.
    try execute(
      "UPDATE credentials SET state = ?1 WHERE id = ?2 AND state IN ('active', 'disabled')",
      .text(state.standing == .open ? "active" : "disabled"), .text(container))
    try noteChange(ofContainer: container)
  }

  fileprivate func write(_ state: AccountStateRecord, of container: String) throws(SQLiteFailure) {
    try execute(
      """
      INSERT OR REPLACE INTO account_states (container, revision, policies, ordered_lock, ordered_reason, verdict,
        verdict_reason, challenge, challenge_expires, report, reported)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      .text(container), .integer(state.revision), .optional(state.policies),
      .int(state.isOrderedLocked ? 1 : 0), .text(state.orderedReason), .text(state.verdict.rawValue),
      .text(state.verdictReason), .optional(state.challenge), .integer(state.challengeExpires),
      .optional(state.report), .optional(state.reported))
  }

  /// Gives the successor of a container what was said of it: new keys end no lock.
  func carryAccountState(from renewed: String, to successor: String) throws(SQLiteFailure) {
    guard try !query("SELECT 1 FROM account_states WHERE container = ?", .text(renewed)).isEmpty else {
      return
    }
    var state = try accountState(of: renewed)
    (state.challenge, state.challengeExpires) = (nil, 0)
    try execute(
      "UPDATE account_orders SET container = ? WHERE container = ? AND receipt IS NULL", .text(successor),
      .text(renewed))
    try store(state, of: successor, isChanged: state.revision > 0)
  }

  /// What an active container may do.
  func standing(of container: String) throws(SQLiteFailure) -> AccountStanding {
    let row = try query("SELECT standing FROM containers WHERE id = ?", .text(container)).first
    return try row.map { row throws(SQLiteFailure) in try AccountStanding(row, "standing") } ?? .open
  }
}

extension AccountStanding {
  init(_ row: Row, _ column: String) throws(SQLiteFailure) {
    guard let standing = AccountStanding(rawValue: try row.text(column)) else {
      throw .unexpectedValue(column: column, expected: "a known standing", found: "another text")
    }
    self = standing
  }
}

extension AccountStateRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    self.init()
    revision = try row.integer("revision")
    policies = try row.optionalBlob("policies")
    (isOrderedLocked, orderedReason) = (
      try row.integer("ordered_lock") != 0, try row.text("ordered_reason")
    )
    (verdict, verdictReason) = (try AccountStanding(row, "verdict"), try row.text("verdict_reason"))
    (challenge, challengeExpires) = (
      try row.optionalBlob("challenge"), try row.integer("challenge_expires")
    )
    (report, reported) = (try row.optionalText("report"), try row.optionalInteger("reported"))
  }
}

extension AccountOrderRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    guard let action = Action(rawValue: try row.text("action")) else {
      throw .unexpectedValue(column: "action", expected: "a known action", found: "another text")
    }
    self.init(
      id: try row.text("id"), container: try row.text("container"), action: action,
      reason: try row.text("reason"), created: try row.integer("created"))
    (receipt, received) = (try row.optionalText("receipt"), try row.optionalInteger("received"))
  }
}
