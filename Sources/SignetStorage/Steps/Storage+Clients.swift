import SignetSQL

extension Storage {
  /// Adds a client.
  package func addClient(_ client: ClientRecord, audit: AuditRecord) async throws(StorageFailure) {
    try await write { database in
      try database.insert(client)
      try database.appendAudit(audit)
    }
  }

  /// Returns the client with this id, revoked or not; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify.
  package func client(_ id: ID<ClientRecord>) async throws(StorageFailure) -> ClientRecord? {
    try await read { try $0.anyClient(id)?.checked() }
  }

  /// Returns the client with this id, even if its row's MAC does not verify; `nil` for none.
  package func anyClient(_ id: ID<ClientRecord>) async throws(StorageFailure) -> ClientRecord? {
    try await read { try $0.anyClient(id) }
  }

  /// Returns all clients, oldest first, including those whose row MAC does not verify.
  package func clients() async throws(StorageFailure) -> [ClientRecord] {
    try await read { try $0.records("ORDER BY created, id") }
  }

  /// Revokes a client permanently: it gets no more notifications, and its pending requests are withdrawn.
  ///
  /// If the row's MAC does not verify, the row is rewritten as revoked.
  ///
  /// - Parameters:
  ///   - id: The client.
  ///   - time: The time of the revocation; a client that was revoked before keeps its time.
  ///   - audit: The event.
  ///   - withdrawal: Makes the event of a transaction that is withdrawn.
  /// - Returns: `true` if there is such a client.
  /// - Throws: ``StorageFailure``.
  package func revokeClient(
    _ id: ID<ClientRecord>, at time: Int64, audit: AuditRecord,
    withdrawal: @escaping @Sendable (TransactionID) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard let client = try database.anyClient(id)?.revoking(at: time) else { return false }
      try database.execute(
        "UPDATE clients SET revoked = $1, authentication = $2, delivery = $3, code = $4 WHERE id = $5",
        [
          .optional(client.revoked), .of(client.authentication), .of(client.delivery),
          .optional(database.rowMAC.mac(of: client.image)), .of(id),
        ], changing: 1)
      try database.appendAudit(audit)
      try database.withdraw(
        where: "id IN (SELECT txn FROM backchannel_requests WHERE client = $1)", .of(id), because: "",
        at: time,
        withdrawal)
      try database.forgetDeliveries(to: OutboxReceiver(.ciba, id.text))
      return true
    }
  }
}
