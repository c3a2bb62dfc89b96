import SignetSQLite

extension SQLiteStorage {
  /// As ``UAFStorage`` says.
  public func addUAFTarget(
    _ target: UAFTargetRecord, limit: Int, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await writer.write { database in
      let present = try database.query(
        "SELECT 1 FROM uaf_targets WHERE user = ? LIMIT ?", .text(target.user), .int(max(0, limit)))
      guard present.count < limit else { return false }
      try database.execute(
        """
        INSERT INTO uaf_targets (id, user, device, name, dispatcher, sealed_target, signature_key, encryption_key, created, code)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, .text(target.id), .text(target.user), .optional(target.device), .text(target.name),
        .optional(target.dispatcher), .optional(target.sealedTarget), .blob(target.signatureKey),
        .optional(target.encryptionKey), .integer(target.created), .optional(codes.code(of: target.image)))
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``UAFStorage`` says.
  public func uafTarget(_ id: String) async throws(StorageFailure) -> UAFTargetRecord? {
    try await reader.read { database in
      try database.query("SELECT * FROM uaf_targets WHERE id = ?", .text(id)).first
        .map { try UAFTargetRecord($0, codes) }
    }
  }

  /// As ``UAFStorage`` says.
  public func uafTargets(user: String) async throws(StorageFailure) -> [UAFTargetRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM uaf_targets WHERE user = ? ORDER BY created, id", .text(user))
        .map { try UAFTargetRecord($0, codes) }
    }
  }

  /// As ``UAFStorage`` says.
  public func uafTargets(device: String) async throws(StorageFailure) -> [UAFTargetRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM uaf_targets WHERE device = ? ORDER BY created, id", .text(device))
        .map { try UAFTargetRecord($0, codes) }
    }
  }

  /// As ``UAFStorage`` says.
  public func uafTargets(limit: Int) async throws(StorageFailure) -> [UAFTargetRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM uaf_targets ORDER BY created, id LIMIT ?", .int(max(0, limit)))
        .map { try UAFTargetRecord($0, codes) }
    }
  }

  /// As ``UAFStorage`` says.
  public func removeUAFDevice(
    _ device: String, of user: String, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        "DELETE FROM uaf_targets WHERE device = ? AND user = ?", .text(device), .text(user))
      let hadTargets = database.changes > 0
      try database.execute(
        "DELETE FROM uaf_credentials WHERE device = ? AND user = ?", .text(device), .text(user))
      guard hadTargets || database.changes > 0 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``UAFStorage`` says.
  public func changeUAFTarget(
    _ id: String, _ change: UAFTargetChange, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        """
        UPDATE uaf_targets SET name = coalesce(?2, name), dispatcher = coalesce(?3, dispatcher),
          sealed_target = CASE WHEN ?4 IS NULL THEN sealed_target WHEN length(?4) = 0 THEN NULL ELSE ?4 END
        WHERE id = ?1
        """, .text(id), .optional(change.name), .optional(change.dispatcher), .optional(change.sealedTarget))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``UAFStorage`` says.
  public func removeUAFTarget(_ id: String, audit: AuditRecord) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute("DELETE FROM uaf_targets WHERE id = ?", .text(id))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }
}

extension UAFTargetRecord {
  /// Reads a row.
  ///
  /// - Throws: ``StorageFailure/altered(row:)`` for one that this server has not written so; `SQLiteFailure`.
  fileprivate init(_ row: Row, _ codes: RowCodes) throws {
    self.init(
      id: try row.text("id"), user: try row.text("user"), device: try row.optionalText("device"),
      name: try row.text("name"), dispatcher: try row.optionalText("dispatcher"),
      sealedTarget: try row.optionalBlob("sealed_target"), signatureKey: try row.blob("signature_key"),
      encryptionKey: try row.optionalBlob("encryption_key"), created: try row.integer("created"))
    try codes.check(image, try row.optionalBlob("code"), named: "\(id) of uaf_targets")
  }
}
