import SignetSQL

extension Storage {
  /// Marks what has expired at `time` and forgets claimed request ids, waits and counts that are too old to matter.
  ///
  /// - Returns: How many transactions expired; each gets the event that `audit` makes of its id.
  public func sweep(
    at time: Int64, audit: @escaping @Sendable (TransactionID) -> AuditRecord
  ) async throws(StorageFailure) -> Int {
    try await write { database in
      _ = try database.execute("DELETE FROM requests WHERE expires <= $1", [.integer(time)])
      _ = try database.execute("DELETE FROM waits WHERE expires <= $1", [.integer(time)])
      _ = try database.execute(
        "DELETE FROM audit_counts WHERE since <= $1", [.integer(time - SQLConnection.repeatableWindow)])
      _ = try database.execute(
        "DELETE FROM backchannel_requests WHERE expires <= $1", [.integer(time - 86_400)])
      // What nobody could deliver, since no server of this kind runs any more.
      _ = try database.execute("DELETE FROM outbox WHERE expires <= $1", [.integer(time - 86_400)])
      for table in AuthenticatorRecord.Kind.tables { try table.sweep(at: time, in: database) }
      try database.removeRequestsOfDeletedUsers(
        "user_id IN (SELECT id FROM users WHERE state = 'deleted') AND state <> 'pending'")
      try database.sweepChanges(at: time)
      return try database.endWaiting(
        "state = 'expired'", where: "expires <= $1", [.integer(time)], audit)
    }
  }
}
