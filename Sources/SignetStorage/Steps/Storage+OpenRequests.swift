import SignetSQL

extension Storage {
  /// The questions that wait for a user, of all kinds and each once, the newest first.
  ///
  /// What the user has begun alone, such as a login of UAF that nobody asked for, is none of them, and neither is a row that this server
  /// has not written so, which nobody can answer.
  ///
  /// - Parameters:
  ///   - user: Who is asked.
  ///   - time: The time now, in seconds since 1970.
  ///   - limit: How many at most.
  /// - Returns: What is asked.
  /// - Throws: ``StorageFailure``.
  package func openRequests(
    to user: UserID, at time: Int64, limit: Int
  ) async throws(StorageFailure) -> [OpenRequestRecord] {
    let few = max(0, limit)
    return try await read { [mac] database in
      func requests(
        _ sql: String, _ record: (SQLRow) throws -> OpenRequestRecord
      ) throws -> [OpenRequestRecord] {
        try database.rows(sql, [.of(user), .integer(time), .int(few)]) { row -> OpenRequestRecord? in
          do { return try record(row) } catch StorageFailure.altered { return nil }
        }.compactMap { $0 }
      }
      let transactions = try requests(
        """
        SELECT \(TransactionRecord.columns) FROM transactions
        WHERE user_id = $1 AND state = 'pending' AND expires > $2 ORDER BY created DESC, id DESC LIMIT $3
        """
      ) { OpenRequestRecord(try TransactionRecord($0, mac)) }
      let operations = try requests(
        """
        SELECT \(UAFOperationRecord.columns) FROM uaf_sessions
        WHERE user_id = $1 AND requester IS NOT NULL AND \(UAFOperationRecord.isOpenCondition) AND expires > $2
        ORDER BY created DESC, id DESC LIMIT $3
        """
      ) { OpenRequestRecord(try UAFOperationRecord($0, mac)) }
      let all = transactions + operations
      return Array(all.sorted { ($0.created, $0.id) > ($1.created, $1.id) }.prefix(few))
    }
  }
}
