import SignetSQL

extension Storage {
  /// Marks transactions that have expired at `time`, and removes expired request ids, waiting times, counts and other rows.
  ///
  /// - Returns: The number of transactions that expired; each gets the event that `audit` makes of its id.
  package func sweep(
    at time: Int64, audit: @escaping @Sendable (TransactionID) -> AuditRecord
  ) async throws(StorageFailure) -> Int {
    try await write { database in
      _ = try database.execute("DELETE FROM requests WHERE expires <= $1", [.integer(time)])
      _ = try database.execute("DELETE FROM waits WHERE expires <= $1", [.integer(time)])
      _ = try database.execute(
        "DELETE FROM audit_counts WHERE since <= $1", [.integer(time - SQLConnection.repeatableWindow)])
      _ = try database.execute(
        "DELETE FROM backchannel_requests WHERE expires <= $1", [.integer(time - 86_400)])
      // Deliveries of a channel that no running server serves.
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
