import SignetSQL

extension Storage {
  /// Whether what a transaction was accepted with is in use: its container or another of the device, its UAF keys, or its app.
  ///
  /// - Throws: ``StorageFailure``.
  public func isProofInUse(of transaction: TransactionID) async throws(StorageFailure) -> Bool {
    try await read { database in
      guard let found = try database.transaction(transaction) else { return false }
      return try database.isProofInUse(found)
    }
  }
}

// What waits for authenticators that have no list of what waits.
extension SQLConnection {
  /// Whether anything of the user's could ever answer a transaction; one that nobody is named for may be anybody's.
  ///
  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - asking: How the user is to be asked; `nil` for a transaction that was stored with that.
  ///   - time: When.
  /// - Returns: Whether anything could.
  /// - Throws: ``SQLFailure``.
  func canAnswer(
    _ transaction: TransactionRecord, _ asking: TransactionAsking? = nil, at time: Int64
  ) throws -> Bool {
    // Of an unknown user the insertion says that there is none.
    guard let user = transaction.user, try anyUser(user) != nil else { return true }
    return try AuthenticatorRecord.Kind.answering.contains {
      try transaction.isAsked(of: $0.kind) && $0.canAnswer(transaction, of: user, asking, at: time, in: self)
    }
  }

  /// Ends what waits for a user, and nothing of the user's could answer any more, in the step that took the last away, locked it, or ended the
  /// last operation.
  ///
  /// A row that this server has not written so stays: nobody can answer it, and it must not keep anything from being locked.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - cause: The event of what was done.
  ///   - time: When.
  /// - Throws: ``SQLFailure``.
  func endUnanswerable(of user: UserID, after cause: AuditRecord, at time: Int64) throws {
    let mac = try rowMAC
    let waiting = try rows(
      "SELECT \(TransactionRecord.columns) FROM transactions WHERE user_id = $1 AND state = 'pending' ORDER BY number",
      [.of(user)]
    ) { row -> TransactionRecord? in
      do { return try TransactionRecord(row, mac) } catch StorageFailure.altered { return nil }
    }
    let rules = try answerRules
    for case let request? in waiting where try !canAnswer(request, at: time) {
      try withdraw(where: "id = $1", .of(request.id), because: EndRecord.noAuthenticator, at: time) {
        rules.ended($0, cause)
      }
    }
  }

  /// Adds what is sent to ask a user, but to what is gone or locked by now.
  func insert(_ asking: TransactionAsking) throws {
    for table in AuthenticatorRecord.Kind.answering { try table.add(asking, in: self) }
  }

  private static let asking = AuthenticatorRecord.Kind.answering.filter { $0.asks != nil }

  // One look at all that was sent to ask a request, and at who is told of its end: most have nothing. Put together once, for each decision.
  private static let besideTheList = {
    let open = asking.compactMap(\.asks).map {
      "(SELECT count(*) FROM \($0.name) WHERE txn = $1 AND \($0.openCondition))"
    }
    return """
      SELECT (SELECT client FROM backchannel_requests WHERE txn = $1 AND delivery <> 'poll'),
        \(open.joined(separator: ", "))
      """
  }()

  /// Ends the operations and messages of a transaction that has ended; what they were answered with by then stays.
  ///
  /// - Returns: The client that is told how it ended; `nil` where nobody is.
  /// - Throws: ``SQLFailure``.
  func endAsking(of transaction: TransactionID, at time: Int64) throws -> ID<ClientRecord>? {
    let found = try row(Self.besideTheList, [.of(transaction)]) { row in
      (
        client: try row.optional(0, row.id) as ID<ClientRecord>?,
        open: try Self.asking.indices.map { try row.integer($0 + 1) > 0 }
      )
    }
    guard let found else { return nil }
    for (table, isOpen) in zip(Self.asking, found.open) where isOpen {
      try table.endAsking(of: transaction, at: time, in: self)
    }
    return found.client
  }

  /// Whether what a transaction was accepted with is in use, on a device that is not locked.
  func isProofInUse(_ transaction: TransactionRecord) throws -> Bool {
    guard transaction.state == .accepted, let user = transaction.user else { return false }
    for table in AuthenticatorRecord.Kind.answering {
      if let isInUse = try table.isProofInUse(transaction, of: user, in: self) { return isInUse }
    }
    return false
  }
}
