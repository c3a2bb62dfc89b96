import SignetSQLite

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func addTransaction(_ transaction: TransactionRecord, audit: AuditEvent) async throws(StorageFailure)
  {
    try await writer.write { database in
      try database.execute(
        "INSERT INTO transactions (id, user, text, created, expires, state) VALUES (?, ?, ?, ?, ?, ?)",
        .text(transaction.id), .text(transaction.user), .text(transaction.text),
        .integer(transaction.created),
        .integer(transaction.expires), .text(transaction.state.rawValue))
      try database.noteTransactionChange(of: transaction.user)
      try database.appendAudit(audit)
    }
  }

  /// As ``Storage`` says.
  public func transaction(_ id: String) async throws(StorageFailure) -> TransactionRecord? {
    try await reader.read { try $0.transaction(id) }
  }

  /// As ``Storage`` says.
  public func pendingTransactions(
    user: String, at time: Int64
  ) async throws(StorageFailure) -> [TransactionRecord] {
    try await reader.read { database in
      try database.query(
        """
        SELECT * FROM transactions WHERE user = ? AND state = 'pending' AND expires > ?
        ORDER BY created, id LIMIT 64
        """, .text(user), .integer(time)
      ).map { try TransactionRecord($0) }
    }
  }

  /// As ``Storage`` says.
  public func decideTransaction(
    _ id: String, _ decision: DecisionRecord, isSigned: Bool, limit: Int,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditEvent
  ) async throws(StorageFailure) -> DecisionOutcome {
    try await writer.write { database in
      let refusal = try database.countSignature(of: decision.container, isGood: isSigned, limit: limit)
      let outcome = try refusal ?? database.decide(id, decision)
      if outcome != .repeated { try database.appendAudit(audit(outcome)) }
      return outcome
    }
  }
}

extension Database {
  fileprivate func transaction(_ id: String) throws -> TransactionRecord? {
    try query("SELECT * FROM transactions WHERE id = ?", .text(id)).first.map { try TransactionRecord($0) }
  }

  /// Counts a wrong signature, forgets the wrong ones before a good one, and says why nothing is to be decided.
  func countSignature(of container: String, isGood: Bool, limit: Int) throws -> DecisionOutcome? {
    let found = try query(
      "SELECT failed_signatures FROM containers WHERE id = ? AND state = 'active'", .text(container)
    ).first
    guard let found else { return .unknown }
    let failed = try found.integer("failed_signatures")
    guard failed < limit else { return .locked }
    guard !isGood || failed > 0 else { return nil }
    let count = isGood ? 0 : failed + 1
    try execute(
      "UPDATE containers SET failed_signatures = ? WHERE id = ?", .integer(count), .text(container))
    return isGood ? nil : .notSigned
  }

  fileprivate func decide(_ id: String, _ decision: DecisionRecord) throws -> DecisionOutcome {
    let decided = try query(
      """
      UPDATE transactions SET state = ?1, decision = ?2, container = ?3, decided = ?4
      WHERE id = ?5 AND state = 'pending' AND expires > ?4
        AND user = (SELECT user FROM containers WHERE id = ?3 AND state = 'active')
      RETURNING user
      """,
      .text(decision.state.rawValue), .text(decision.jws), .text(decision.container), .integer(decision.time),
      .text(id))
    if let row = decided.first {
      try noteTransactionChange(of: row.text("user"))
      return .decided
    }
    let owner = try query(
      """
      SELECT 1 FROM transactions JOIN containers ON transactions.user = containers.user
      WHERE transactions.id = ? AND containers.id = ? AND containers.state = 'active'
      """, .text(id), .text(decision.container))
    guard !owner.isEmpty, let found = try transaction(id) else { return .unknown }
    switch found.state(at: decision.time) {
    case .accepted, .denied:
      let isSame = found.state == decision.state && found.decision?.container == decision.container
      return isSame ? .repeated : .decidedBefore
    case .expired: return .expired
    case .pending: return .unknown
    }
  }
}

extension TransactionRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    guard let state = State(rawValue: try row.text("state")) else {
      throw .unexpectedValue(column: "state", expected: "a known state", found: "another text")
    }
    self.init(
      id: try row.text("id"), user: try row.text("user"), text: try row.text("text"),
      created: try row.integer("created"), expires: try row.integer("expires"), state: state)
    if let jws = try row.optionalText("decision") {
      decision = DecisionRecord(
        state: state, jws: jws, container: try row.text("container"), time: try row.integer("decided"))
    }
  }
}
