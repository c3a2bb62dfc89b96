import SignetSQLite

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func attemptCode(
    _ attempt: CodeAttempt, judge: @escaping @Sendable (CodeSituation) -> CodeVerdict,
    then listener: @escaping @Sendable (Result<CodeOutcome, StorageFailure>) -> Void
  ) {
    writer.write { database in
      guard try database.isKeyGood(attempt.key) else { return .keyRevoked }
      let rows = try database.credentials(for: attempt)
      let credentials = try rows.map { row throws(SQLiteFailure) in try CredentialRecord(row) }
      let wait = try database.wait(for: attempt)
      let verdict = judge(CodeSituation(credentials: credentials, wait: wait))
      for credential in verdict.changed {
        guard let index = credentials.firstIndex(where: { $0.id == credential.id }) else { continue }
        try database.update(
          credential, from: credentials[index].state, number: rows[index].integer("number"))
      }
      if verdict.wait != wait { try database.setWait(verdict.wait, for: attempt) }
      try database.appendAudit(verdict.audit)
      return verdict.outcome
    } then: {
      listener($0)
    }
  }
}

extension Database {
  /// Whether a key is known and not revoked; where none is named, nothing speaks against it.
  func isKeyGood(_ key: String?) throws(SQLiteFailure) -> Bool {
    guard let key else { return true }
    var notes = note as? TransactionNotes ?? TransactionNotes()
    if notes.goodKey == key { return true }
    let isGood = try !query("SELECT 1 FROM api_keys WHERE id = ? AND revoked IS NULL", .text(key)).isEmpty
    if isGood {
      notes.goodKey = key
      note = notes
    }
    return isGood
  }

  fileprivate func credentials(for attempt: CodeAttempt) throws(SQLiteFailure) -> [Row] {
    if let serial = attempt.serial {
      try query(
        "SELECT * FROM credentials WHERE serial = ?1 AND (?2 IS NULL OR user = ?2)", .text(serial),
        .optional(attempt.user))
    } else {
      try query(
        "SELECT * FROM credentials WHERE user = ? AND state = 'active' ORDER BY number",
        .optional(attempt.user))
    }
  }

  /// Writes what an attempt changes; a counter never gets smaller.
  fileprivate func update(
    _ credential: CredentialRecord, from state: CredentialRecord.State, number: Int64
  ) throws {
    try execute(
      """
      UPDATE credentials SET last_counter = ?1, drift = ?2, failures = ?3 WHERE number = ?4 AND last_counter <= ?1
      """, .integer(credential.lastCounter), .integer(credential.drift), .int(credential.failures),
      .integer(number))
    guard changes == 1 else { throw StorageFailure.failed(detail: "a counter would get smaller") }
    guard credential.state != state else { return }
    try execute(
      "UPDATE credentials SET state = ? WHERE number = ?", .text(credential.state.rawValue),
      .integer(number))
  }

  func wait(for attempt: CodeAttempt) throws(SQLiteFailure) -> WaitRecord? {
    guard let user = attempt.user, let client = attempt.client else { return nil }
    let rows = try query(
      "SELECT failures, until, expires FROM waits WHERE user = ? AND client = ?", .text(user), .blob(client))
    guard let row = rows.first else { return nil }
    return WaitRecord(
      failures: Int(clamping: try row.integer("failures")), until: try row.integer("until"),
      expires: try row.integer("expires"))
  }

  func setWait(_ wait: WaitRecord?, for attempt: CodeAttempt) throws(SQLiteFailure) {
    guard let user = attempt.user, let client = attempt.client else { return }
    guard let wait else {
      return try execute("DELETE FROM waits WHERE user = ? AND client = ?", .text(user), .blob(client))
    }
    try execute(
      "INSERT OR REPLACE INTO waits (user, client, failures, until, expires) VALUES (?, ?, ?, ?, ?)",
      .text(user), .blob(client), .int(wait.failures), .integer(wait.until), .integer(wait.expires))
  }
}
