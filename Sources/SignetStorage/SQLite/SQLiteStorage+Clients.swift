import SignetSQLite

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func addClient(_ client: ClientRecord, audit: AuditEvent) async throws(StorageFailure) {
    try await writer.write { database in
      try database.execute(
        """
        INSERT INTO clients (id, name, authentication, key_set, secret_digest, delivery, endpoint,
          request_algorithm, number_digits, created, revoked)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, .text(client.id), .text(client.name), .text(client.authentication.rawValue),
        .optional(client.keySet), .optional(client.secretDigest), .text(client.delivery.rawValue),
        .optional(client.notificationEndpoint), .optional(client.requestAlgorithm),
        .optional(client.numberDigits.map(Int64.init)), .integer(client.created), .optional(client.revoked))
      try database.appendAudit(audit)
    }
  }

  /// As ``Storage`` says.
  public func client(_ id: String) async throws(StorageFailure) -> ClientRecord? {
    try await reader.read { database in
      try database.query("SELECT * FROM clients WHERE id = ?", .text(id)).first.map { try ClientRecord($0) }
    }
  }

  /// As ``Storage`` says.
  public func clients() async throws(StorageFailure) -> [ClientRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM clients ORDER BY created, id").map { try ClientRecord($0) }
    }
  }

  /// As ``Storage`` says.
  public func revokeClient(
    _ id: String, at time: Int64, audit: AuditEvent
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        "UPDATE clients SET revoked = coalesce(revoked, ?) WHERE id = ?", .integer(time), .text(id))
      guard database.changes == 1 else { return false }
      try database.execute(
        "UPDATE backchannel_requests SET notice_due = NULL WHERE client = ?", .text(id))
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``Storage`` says.
  public func setUserCode(
    _ digest: [UInt8]?, of user: String, audit: AuditEvent
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        "UPDATE users SET user_code = ?, user_code_failures = 0 WHERE id = ?", .optional(digest), .text(user))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``Storage`` says.
  public func countUserCode(
    of user: String, isRight: Bool, limit: Int
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        """
        UPDATE users SET user_code_failures = CASE WHEN ?2 THEN 0 ELSE user_code_failures + 1 END
        WHERE id = ?1 AND user_code_failures < ?3
        """, .text(user), .int(isRight ? 1 : 0), .int(limit))
      return isRight && database.changes == 1
    }
  }
}

extension ClientRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    guard let authentication = Authentication(rawValue: try row.text("authentication")),
      let delivery = Delivery(rawValue: try row.text("delivery"))
    else {
      throw .unexpectedValue(
        column: "delivery", expected: "a known way, and authentication", found: "another text")
    }
    self.init(
      id: try row.text("id"), name: try row.text("name"), authentication: authentication, delivery: delivery,
      created: try row.integer("created"))
    keySet = try row.optionalBlob("key_set")
    secretDigest = try row.optionalBlob("secret_digest")
    notificationEndpoint = try row.optionalText("endpoint")
    requestAlgorithm = try row.optionalText("request_algorithm")
    numberDigits = try row.optionalInteger("number_digits").map { Int(clamping: $0) }
    revoked = try row.optionalInteger("revoked")
  }
}
