import SignetSQL

extension Storage {
  /// Returns the pending requests to a user, of all kinds and each once, newest first.
  ///
  /// Operations that the user began alone, such as a UAF login without a requester, are left out. A row whose MAC does not
  /// verify is left out too, because no answer to it is accepted.
  ///
  /// - Parameters:
  ///   - user: The user who is asked.
  ///   - time: The current time, in seconds since 1970.
  ///   - limit: The maximum number of requests.
  /// - Returns: The requests.
  /// - Throws: ``StorageFailure``.
  package func openRequests(
    to user: UserID, at time: Int64, limit: Int
  ) async throws(StorageFailure) -> [OpenRequestRecord] {
    let maximum = max(0, limit)
    return try await read { database in
      let values: [SQLValue] = [.of(user), .integer(time), .int(maximum)]
      let transactions: [TransactionRecord] = try database.intactRecords(
        "WHERE user_id = $1 AND state = 'pending' AND expires > $2 ORDER BY created DESC, id DESC LIMIT $3",
        values)
      let operations: [UAFOperationRecord] = try database.intactRecords(
        """
        WHERE user_id = $1 AND requester IS NOT NULL AND \(UAFOperationRecord.isOpenCondition) AND expires > $2
        ORDER BY created DESC, id DESC LIMIT $3
        """, values)
      let all = transactions.map { OpenRequestRecord($0) } + operations.map { OpenRequestRecord($0) }
      return Array(all.sorted { ($0.created, $0.id) > ($1.created, $1.id) }.prefix(maximum))
    }
  }
}
