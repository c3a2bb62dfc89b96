import SignetSQLite

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func addPushTarget(
    _ target: PushTargetRecord, limit: Int, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        """
        INSERT INTO push_targets (id, container, name, service, sealed_target, created)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6
        WHERE EXISTS (SELECT 1 FROM containers WHERE id = ?2 AND state = 'active')
          AND (SELECT count(*) FROM push_targets WHERE container = ?2) < ?7
        """, .text(target.id), .text(target.container), .text(target.name), .text(target.service),
        .blob(target.sealedTarget), .integer(target.created), .int(limit))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``Storage`` says.
  public func pushTargets(container: String) async throws(StorageFailure) -> [PushTargetRecord] {
    try await reader.read { database in
      try database.query(
        "SELECT * FROM push_targets WHERE container = ? ORDER BY created, id", .text(container)
      ).map { try PushTargetRecord($0) }
    }
  }

  /// As ``Storage`` says.
  public func pushTargets(user: String) async throws(StorageFailure) -> [PushTargetRecord] {
    try await reader.read { database in
      try database.query(
        """
        SELECT push_targets.* FROM push_targets JOIN containers ON containers.id = push_targets.container
        WHERE containers.user = ? AND containers.state = 'active' ORDER BY push_targets.created, push_targets.id
        """, .text(user)
      ).map { try PushTargetRecord($0) }
    }
  }

  /// As ``Storage`` says.
  public func changePushTarget(
    _ id: String, of container: String, name: String?, target: (service: String, sealed: [UInt8])?,
    audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        """
        UPDATE push_targets SET name = coalesce(?3, name), service = coalesce(?4, service),
          sealed_target = coalesce(?5, sealed_target)
        WHERE id = ?1 AND container = ?2
        """, .text(id), .text(container), .optional(name), .optional(target?.service),
        .optional(target?.sealed))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``Storage`` says.
  public func removePushTarget(
    _ id: String, of container: String, ifSealed sealed: [UInt8]?, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        "DELETE FROM push_targets WHERE id = ?1 AND container = ?2 AND (?3 IS NULL OR sealed_target = ?3)",
        .text(id), .text(container), .optional(sealed))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``Storage`` says.
  public func transactionChanges(after number: Int64?) async throws(StorageFailure) -> TransactionChanges {
    try await reader.read { database in
      let last = try database.query(
        "SELECT seq FROM sqlite_sequence WHERE name = 'transaction_changes'"
      ).first?.integer("seq")
      guard let last else { return TransactionChanges(users: [], last: 0) }
      guard let number, last > number else { return TransactionChanges(users: [], last: last) }
      let users = try database.query(
        "SELECT DISTINCT user FROM transaction_changes WHERE number > ? AND number <= ?", .integer(number),
        .integer(last))
      return TransactionChanges(users: try users.map { try $0.text("user") }, last: last)
    }
  }
}

extension Database {
  /// Tells who waits, in every process, that a transaction of its user changed; of one without a user nobody waits.
  func noteChange(of transaction: String) throws(SQLiteFailure) {
    try execute(
      """
      INSERT INTO transaction_changes (user, time)
      SELECT user, unixepoch() FROM transactions WHERE id = ? AND user IS NOT NULL
      """, .text(transaction))
    try noteNotice(of: transaction)
  }
}

extension Database {
  /// Tells who waits that a container's list is another one, or that the container ended.
  func noteChange(ofContainer id: String) throws(SQLiteFailure) {
    try execute(
      """
      INSERT INTO transaction_changes (user, time) SELECT user, unixepoch() FROM containers WHERE id = ?
      """, .text(id))
  }
}

extension PushTargetRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    self.init(
      id: try row.text("id"), container: try row.text("container"), name: try row.text("name"),
      service: try row.text("service"), sealedTarget: try row.blob("sealed_target"),
      created: try row.integer("created"))
  }
}
