import SignetSQLite

extension SQLiteStorage {
  /// As ``ClientStorage`` says.
  public func addBackchannelRequest(
    _ request: BackchannelRecord, asking transaction: TransactionRecord, limits: TransactionLimits,
    audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> AdmissionOutcome {
    try await writer.write { database in
      let revoked = try database.query(
        "SELECT id FROM clients WHERE id = ? AND revoked IS NOT NULL", .text(request.client))
      guard revoked.isEmpty else { return .clientRevoked }
      let outcome = try database.add(transaction, limits)
      if outcome == .added {
        try database.execute(
          """
          INSERT INTO backchannel_requests (digest, txn, client, delivery, expires, sealed_notice, poll_interval)
          VALUES (?, ?, ?, ?, ?, ?, ?)
          """, .blob(request.digest), .text(request.transaction), .text(request.client),
          .text(request.delivery.rawValue), .integer(request.expires), .optional(request.sealedNotice),
          .integer(request.interval))
      }
      try database.appendAudit(audit(outcome))
      return outcome
    }
  }

  /// As ``ClientStorage`` says.
  public func pollBackchannelRequest(
    _ digest: [UInt8], of client: String, at time: Int64, step: Int64, limit: Int64,
    audit: @escaping @Sendable (String) -> AuditRecord
  ) async throws(StorageFailure) -> PollOutcome {
    try await writer.write { database in
      let found = try database.query(
        "SELECT * FROM backchannel_requests WHERE digest = ? AND client = ?", .blob(digest), .text(client)
      ).first
      guard let request = try found.map({ try BackchannelRecord($0) }),
        let transaction = try database.transaction(request.transaction)
      else { return .unknown }
      guard request.issued == nil else { return .used }
      switch transaction.state(at: time) {
      case .pending: return try database.countPoll(of: request, at: time, step: step, limit: limit)
      case .expired:
        try database.expire(transaction, audit)
        return .expired
      default: return request.expires <= time ? .expired : .ended(request, transaction)
      }
    }
  }

  /// As ``ClientStorage`` says.
  public func issueTokens(
    for digest: [UInt8], of client: String, at time: Int64, pushedWithin window: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        """
        UPDATE backchannel_requests SET issued = ?1 WHERE digest = ?2 AND client = ?3 AND issued IS NULL
          AND EXISTS (SELECT 1 FROM clients WHERE id = ?3 AND revoked IS NULL)
          AND EXISTS (
            SELECT 1 FROM transactions JOIN containers AS decided_by ON decided_by.id = transactions.container
              JOIN containers AS present
                ON present.user = decided_by.user AND present.device = decided_by.device
            WHERE transactions.id = txn AND present.state = 'active')
          AND CASE delivery WHEN 'push'
            THEN EXISTS (SELECT 1 FROM transactions WHERE id = txn AND decided + ?4 >= ?1)
            ELSE expires > ?1 END
        """, .integer(time), .blob(digest), .text(client), .integer(window))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``ClientStorage`` says.
  public func dueNotices(
    at time: Int64, limitPerClient limit: Int
  ) async throws(StorageFailure) -> [BackchannelRecord] {
    try await reader.read { database in
      try database.query(
        """
        SELECT * FROM (
          SELECT *, row_number() OVER (PARTITION BY client ORDER BY notice_due, digest) AS place
          FROM backchannel_requests WHERE notice_due <= ?
        ) AS due WHERE place <= ? ORDER BY notice_due, digest LIMIT 256
        """, .integer(time), .int(limit)
      ).map { try BackchannelRecord($0) }
    }
  }

  /// As ``ClientStorage`` says.
  public func claimNotice(
    _ digest: [UInt8], due: Int64, until end: Int64
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        """
        UPDATE backchannel_requests SET notice_due = ?1, notice_attempts = notice_attempts + 1
        WHERE digest = ?2 AND notice_due = ?3
        """, .integer(end), .blob(digest), .integer(due))
      return database.changes == 1
    }
  }

  /// As ``ClientStorage`` says.
  public func endNotice(
    _ digest: [UInt8], due: Int64, next: Int64?, audit: AuditRecord?
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        "UPDATE backchannel_requests SET notice_due = ?1 WHERE digest = ?2 AND notice_due = ?3",
        .optional(next), .blob(digest), .integer(due))
      guard database.changes == 1 else { return false }
      if let audit { try database.appendAudit(audit) }
      return true
    }
  }
}

extension Database {
  /// Has the client told that a transaction has ended, where it waits to be told; in the step of the end.
  func noteNotice(of transaction: String) throws(SQLiteFailure) {
    try execute(
      """
      UPDATE backchannel_requests SET notice_due = 0 WHERE txn = ?1 AND delivery <> 'poll'
        AND (SELECT state FROM transactions WHERE id = ?1) <> 'pending'
      """, .text(transaction))
  }

  /// What is said to have expired stays so, also where the clock is set back.
  fileprivate func expire(
    _ transaction: TransactionRecord, _ audit: (String) -> AuditRecord
  ) throws {
    guard try expire(transaction.id) else { return }
    try appendAudit(audit(transaction.id))
  }

  fileprivate func countPoll(
    of request: BackchannelRecord, at time: Int64, step: Int64, limit: Int64
  ) throws -> PollOutcome {
    // The clock has whole seconds, so one of them is not counted; one that was put back makes nobody wait.
    let isTooSoon = request.lastPoll.map { $0 <= time && time - $0 + 1 < request.interval } ?? false
    let interval = isTooSoon ? min(request.interval + step, limit) : request.interval
    try execute(
      "UPDATE backchannel_requests SET last_poll = ?, poll_interval = ? WHERE digest = ?", .integer(time),
      .integer(interval), .blob(request.digest))
    return isTooSoon ? .tooSoon(interval: interval) : .pending
  }
}

extension BackchannelRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    self.init(
      digest: try row.blob("digest"), transaction: try row.text("txn"), client: try row.text("client"),
      delivery: try row.choice("delivery"), expires: try row.integer("expires"),
      sealedNotice: try row.optionalBlob("sealed_notice"), interval: try row.integer("poll_interval"))
    lastPoll = try row.optionalInteger("last_poll")
    issued = try row.optionalInteger("issued")
    noticeDue = try row.optionalInteger("notice_due")
    noticeAttempts = Int(clamping: try row.integer("notice_attempts"))
  }
}
