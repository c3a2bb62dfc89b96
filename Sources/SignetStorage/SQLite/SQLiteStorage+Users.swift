import SignetSQLite

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func addUser(_ user: UserRecord, audit: AuditRecord) async throws(StorageFailure) {
    try await writer.write { database in
      try database.execute(
        "INSERT INTO users (id, created) VALUES (?, ?)", .text(user.id), .integer(user.created))
      try database.appendAudit(audit)
    }
  }

  /// As ``Storage`` says.
  public func user(_ id: String) async throws(StorageFailure) -> UserRecord? {
    try await reader.read { database in
      try database.query("SELECT * FROM users WHERE id = ?", .text(id)).first.map { try UserRecord($0) }
    }
  }

  /// As ``Storage`` says.
  public func users() async throws(StorageFailure) -> [UserRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM users ORDER BY id").map { try UserRecord($0) }
    }
  }

  /// As ``Storage`` says.
  public func unlockUser(_ id: String, audit: AuditRecord) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        "UPDATE users SET challenges = 0, challenge_after = 0 WHERE id = ?", .text(id)
      )
      guard database.changes == 1 else { return false }
      try database.execute(
        "UPDATE credentials SET failures = 0 WHERE user = ?", .text(id))
      try database.execute("UPDATE containers SET failed_signatures = 0 WHERE user = ?", .text(id))
      try database.execute("DELETE FROM waits WHERE user = ?", .text(id))
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``Storage`` says.
  public func setUserCode(
    _ digest: [UInt8]?, of user: String, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        "UPDATE users SET user_code = ? WHERE id = ?", .optional(digest), .text(user))
      guard database.changes == 1 else { return false }
      try database.execute("DELETE FROM waits WHERE user = ?", .text(user))
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``Storage`` says.
  public func tryUserCode(
    _ attempt: CodeAttempt, judge: @escaping @Sendable (WaitRecord?) -> CodeVerdict
  ) async throws(StorageFailure) -> CodeOutcome {
    try await writer.write { database in
      let wait = try database.wait(for: attempt)
      let verdict = judge(wait)
      if verdict.wait != wait { try database.setWait(verdict.wait, for: attempt) }
      try database.appendAudit(verdict.audit)
      return verdict.outcome
    }
  }
}

extension UserRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    self.init(id: try row.text("id"), created: try row.integer("created"))
    codeDigest = try row.optionalBlob("user_code")
  }
}
