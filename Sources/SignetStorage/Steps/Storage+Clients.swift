import SignetSQL

extension Storage {
  /// Adds a client.
  public func addClient(_ client: ClientRecord, audit: AuditRecord) async throws(StorageFailure) {
    try await write { database in
      try database.execute(
        """
        INSERT INTO clients (id, name, authentication, key_set, secret_digest, delivery, endpoint,
          request_algorithm, number_digits, created, revoked)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        """,
        [
          .text(client.id), .text(client.name), .text(client.authentication.rawValue),
          .optional(client.keySet), .optional(client.secretDigest), .text(client.delivery.rawValue),
          .optional(client.notificationEndpoint), .optional(client.requestAlgorithm),
          .optional(client.numberDigits.map(Int64.init)), .integer(client.created), .optional(client.revoked),
        ], changing: 1)
      try database.appendAudit(audit)
    }
  }

  /// The client of this id, revoked or not; `nil` for none.
  public func client(_ id: String) async throws(StorageFailure) -> ClientRecord? {
    try await read { database in
      try database.row("SELECT \(ClientRecord.columns) FROM clients WHERE id = $1", [.text(id)]) {
        try ClientRecord($0)
      }
    }
  }

  /// All clients, oldest first.
  public func clients() async throws(StorageFailure) -> [ClientRecord] {
    try await read { database in
      try database.rows("SELECT \(ClientRecord.columns) FROM clients ORDER BY created, id") {
        try ClientRecord($0)
      }
    }
  }

  /// Revokes a client for good: it is told nothing any more, and what it has asked and nobody has decided is withdrawn.
  ///
  /// - Parameters:
  ///   - id: The client.
  ///   - time: When; one that was revoked before keeps its time.
  ///   - audit: The event.
  ///   - withdrawal: Makes the event of a transaction that is withdrawn.
  /// - Returns: Whether there is such a client.
  /// - Throws: ``StorageFailure``.
  public func revokeClient(
    _ id: String, at time: Int64, audit: AuditRecord, withdrawal: @escaping @Sendable (String) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard
        try database.execute(
          "UPDATE clients SET revoked = coalesce(revoked, $1) WHERE id = $2", [.integer(time), .text(id)])
          == 1
      else { return false }
      try database.appendAudit(audit)
      let withdrawn = try database.rows(
        """
        UPDATE transactions SET state = 'withdrawn', end_reason = '', end_message = '', decided = $1
        WHERE state = 'pending' AND id IN (SELECT txn FROM backchannel_requests WHERE client = $2) RETURNING id
        """, [.integer(time), .text(id)]
      ) { try $0.text(0) }
      for transaction in withdrawn {
        try database.noteChange(of: transaction)
        try database.appendAudit(withdrawal(transaction))
      }
      try database.forgetDeliveries(to: OutboxReceiver(.ciba, id))
      return true
    }
  }
}

extension ClientRecord {
  static let columns =
    "id, name, authentication, delivery, created, key_set, secret_digest, endpoint, request_algorithm, number_digits, revoked"

  fileprivate init(_ row: SQLRow) throws {
    self.init(
      id: try row.text(0), name: try row.text(1), authentication: try row.value(2),
      delivery: try row.value(3), created: try row.integer(4))
    keySet = try row.optional(5, row.blob)
    secretDigest = try row.optional(6, row.blob)
    notificationEndpoint = try row.optional(7, row.text)
    requestAlgorithm = try row.optional(8, row.text)
    numberDigits = try row.optional(9, row.integer).map { Int(clamping: $0) }
    revoked = try row.optional(10, row.integer)
  }
}
