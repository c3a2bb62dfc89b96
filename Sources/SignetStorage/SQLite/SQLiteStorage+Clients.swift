import SignetSQLite

extension SQLiteStorage {
  /// As ``ClientStorage`` says.
  public func addClient(_ client: ClientRecord, audit: AuditRecord) async throws(StorageFailure) {
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

  /// As ``ClientStorage`` says.
  public func client(_ id: String) async throws(StorageFailure) -> ClientRecord? {
    try await reader.read { database in
      try database.query("SELECT * FROM clients WHERE id = ?", .text(id)).first.map { try ClientRecord($0) }
    }
  }

  /// As ``ClientStorage`` says.
  public func clients() async throws(StorageFailure) -> [ClientRecord] {
    try await reader.read { database in
      try database.query("SELECT * FROM clients ORDER BY created, id").map { try ClientRecord($0) }
    }
  }

  /// As ``ClientStorage`` says.
  public func revokeClient(
    _ id: String, at time: Int64, audit: AuditRecord, withdrawal: @escaping @Sendable (String) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        "UPDATE clients SET revoked = coalesce(revoked, ?) WHERE id = ?", .integer(time), .text(id))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      let withdrawn = try database.query(
        """
        UPDATE transactions SET state = 'withdrawn', end_reason = '', end_message = '', decided = ?1
        WHERE state = 'pending' AND id IN (SELECT txn FROM backchannel_requests WHERE client = ?2) RETURNING id
        """, .integer(time), .text(id))
      for row in withdrawn {
        try database.noteChange(of: row.text("id"))
        try database.appendAudit(withdrawal(try row.text("id")))
      }
      try database.execute(
        "UPDATE backchannel_requests SET notice_due = NULL WHERE client = ?", .text(id))
      return true
    }
  }
}

extension Row {
  /// A text that is one of a closed list.
  ///
  /// - Throws: `SQLiteFailure.unexpectedValue` for any other.
  func choice<Value: RawRepresentable>(
    _ column: String
  ) throws(SQLiteFailure) -> Value where Value.RawValue == String {
    guard let value = Value(rawValue: try text(column)) else {
      throw .unexpectedValue(column: column, expected: "a known word", found: "another text")
    }
    return value
  }
}

extension ClientRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    self.init(
      id: try row.text("id"), name: try row.text("name"), authentication: try row.choice("authentication"),
      delivery: try row.choice("delivery"), created: try row.integer("created"))
    keySet = try row.optionalBlob("key_set")
    secretDigest = try row.optionalBlob("secret_digest")
    notificationEndpoint = try row.optionalText("endpoint")
    requestAlgorithm = try row.optionalText("request_algorithm")
    numberDigits = try row.optionalInteger("number_digits").map { Int(clamping: $0) }
    revoked = try row.optionalInteger("revoked")
  }
}
