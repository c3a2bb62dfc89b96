import SignetSQL

extension Storage {
  /// Adds a client.
  public func addClient(_ client: ClientRecord, audit: AuditRecord) async throws(StorageFailure) {
    try await write { database in
      try database.insert(client)
      try database.appendAudit(audit)
    }
  }

  /// The client of this id, revoked or not; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so.
  public func client(_ id: ID<ClientRecord>) async throws(StorageFailure) -> ClientRecord? {
    try await read { try $0.anyClient(id)?.checked() }
  }

  /// The client of this id, also one whose row was altered; `nil` for none.
  public func anyClient(_ id: ID<ClientRecord>) async throws(StorageFailure) -> ClientRecord? {
    try await read { try $0.anyClient(id) }
  }

  /// All clients, oldest first, also those whose rows were altered.
  public func clients() async throws(StorageFailure) -> [ClientRecord] {
    try await read { [mac] database in
      try database.rows("SELECT \(ClientRecord.columns) FROM clients ORDER BY created, id") {
        try ClientRecord($0, mac)
      }
    }
  }

  /// Revokes a client for good: it is told nothing any more, and what it has asked and nobody has decided is withdrawn.
  ///
  /// The row of one that was altered is written anew so.
  ///
  /// - Parameters:
  ///   - id: The client.
  ///   - time: When; one that was revoked before keeps its time.
  ///   - audit: The event.
  ///   - withdrawal: Makes the event of a transaction that is withdrawn.
  /// - Returns: Whether there is such a client.
  /// - Throws: ``StorageFailure``.
  public func revokeClient(
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
