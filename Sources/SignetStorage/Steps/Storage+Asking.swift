import SignetSQL

extension Storage {
  /// Determines if the authenticator that accepted a transaction is active: its container or another of the device, its UAF
  /// keys, or its app.
  ///
  /// - Throws: ``StorageFailure``.
  package func isProofInUse(of transaction: TransactionID) async throws(StorageFailure) -> Bool {
    try await read { database in
      guard let found = try database.transaction(transaction) else { return false }
      return try database.isProofInUse(found)
    }
  }
}

// Requests to authenticators that cannot list pending requests.
extension SQLConnection {
  /// Determines if an authenticator of the user could ever answer a transaction; one without a user can always be answered.
  ///
  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - authenticatorRequests: The way in which the user is to be asked; `nil` for a transaction that is already stored.
  ///   - time: The current time, in seconds since 1970.
  /// - Returns: `true` if one could.
  /// - Throws: ``SQLFailure``.
  func canAnswer(
    _ transaction: TransactionRecord, _ authenticatorRequests: AuthenticatorRequestRecords? = nil,
    at time: Int64
  ) throws -> Bool {
    // The insertion of the transaction reports an unknown user.
    guard let user = transaction.user, try anyUser(user) != nil else { return true }
    return try AuthenticatorRecord.Kind.answering.contains {
      try transaction.isAsked(of: $0.kind)
        && $0.canAnswer(transaction, of: user, authenticatorRequests, at: time, in: self)
    }
  }

  /// Ends the pending requests that no authenticator of the user can answer any more.
  ///
  /// It runs in the step that removed or locked the last authenticator, or ended the last operation. A row whose MAC does
  /// not verify is left as it is: no answer to it is accepted, and it must not prevent a lock.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - cause: The event of the change.
  ///   - time: The time of the change.
  /// - Throws: ``SQLFailure``.
  func endUnanswerable(of user: UserID, after cause: AuditRecord, at time: Int64) throws {
    let waiting: [TransactionRecord] = try intactRecords(
      "WHERE user_id = $1 AND state = 'pending' ORDER BY number", [.of(user)])
    let rules = try answerRules
    for request in waiting where try !canAnswer(request, at: time) {
      try withdraw(where: "id = $1", .of(request.id), because: EndRecord.noAuthenticator, at: time) {
        rules.ended($0, cause)
      }
    }
  }

  /// Adds the messages that ask a user, except to authenticators that were removed or locked in the meantime.
  func insert(_ authenticatorRequests: AuthenticatorRequestRecords) throws {
    for table in AuthenticatorRecord.Kind.answering { try table.add(authenticatorRequests, in: self) }
  }

  private static let messageTables = AuthenticatorRecord.Kind.answering.filter { $0.messageTable != nil }

  // One query for all messages that ask for a request, and for the client that is notified: most requests have neither.
  // Built once, because each decision uses it.
  private static let openMessagesQuery = {
    let open = messageTables.compactMap(\.messageTable).map {
      "(SELECT count(*) FROM \($0.name) WHERE txn = $1 AND \($0.openCondition))"
    }
    return """
      SELECT (SELECT client FROM backchannel_requests WHERE txn = $1 AND delivery <> 'poll'),
        \(open.joined(separator: ", "))
      """
  }()

  /// Ends the open operations and messages of a transaction that has ended; answered ones are kept.
  ///
  /// - Returns: The client that is notified of the end; `nil` for none.
  /// - Throws: ``SQLFailure``.
  func endMessages(of transaction: TransactionID, at time: Int64) throws -> ID<ClientRecord>? {
    let found = try row(Self.openMessagesQuery, [.of(transaction)]) { row in
      (
        client: try row.optional(0, row.id) as ID<ClientRecord>?,
        open: try Self.messageTables.indices.map { try row.integer($0 + 1) > 0 }
      )
    }
    guard let found else { return nil }
    for (table, isOpen) in zip(Self.messageTables, found.open) where isOpen {
      try table.endMessages(of: transaction, at: time, in: self)
    }
    return found.client
  }

  /// Returns `true` if the authenticator that accepted a transaction is active, on a device that is not locked.
  func isProofInUse(_ transaction: TransactionRecord) throws -> Bool {
    guard transaction.state == .accepted, let user = transaction.user else { return false }
    for table in AuthenticatorRecord.Kind.answering {
      if let isInUse = try table.isProofInUse(transaction, of: user, in: self) { return isInUse }
    }
    return false
  }
}
