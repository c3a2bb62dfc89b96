import SignetSQL

extension Storage {
  /// Suspends a user: from this step on no step accepts anything of the user, and what is under way ends.
  ///
  /// Open requests are withdrawn, invites and UAF operations end, and waiting devices are told. A row that was
  /// altered is written anew.
  ///
  /// - Parameters:
  ///   - id: The user.
  ///   - reason: Why, in the operator's words.
  ///   - subject: One for a row that was altered: nobody knows whose the one in it is.
  ///   - time: When.
  ///   - audit: The event.
  ///   - ended: Makes the event of each request that ends, of its id.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  public func suspendUser(
    _ id: UserID, reason: String, subject: String, at time: Int64, audit: AuditRecord,
    ended: @escaping @Sendable (TransactionID) -> AuditRecord
  ) async throws(StorageFailure) -> UserChangeOutcome {
    try await write { database in
      guard let user = try database.anyUser(id) else { return .unknown }
      switch user.suspended(because: reason, calling: subject, at: time) {
      case .refused(let outcome): return outcome
      case .made(let suspended):
        try database.update(suspended)
        try database.endAll(of: id, at: time, ended)
        try database.appendAudit(audit)
        return .changed
      }
    }
  }

  /// Lets a suspended user use again what is bound to the account.
  ///
  /// - Returns: How it ended.
  public func resumeUser(
    _ id: UserID, at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> UserChangeOutcome {
    try await write { database in
      guard let user = try database.anyUser(id) else { return .unknown }
      switch user.resumed(at: time) {
      case .refused(let outcome): return outcome
      case .made(let resumed):
        try database.update(resumed)
        try database.recordChange(ofUser: id)
        try database.appendAudit(audit)
        return .changed
      }
    }
  }

  /// Gives a user another display name, or takes it away.
  ///
  /// - Parameters:
  ///   - id: The user.
  ///   - displayName: The name; `nil` for none.
  ///   - audit: The event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  public func renameUser(
    _ id: UserID, to displayName: String?, audit: AuditRecord
  ) async throws(StorageFailure) -> UserChangeOutcome {
    try await write { database in
      guard let user = try database.anyUser(id) else { return .unknown }
      switch user.renamed(to: displayName) {
      case .refused(let outcome): return outcome
      case .made(let renamed):
        try database.update(renamed)
        try database.appendAudit(audit)
        return .changed
      }
    }
  }

  /// Deletes a user: removes all that is bound to the account, with its secrets, and the user's id, which somebody else may have then.
  ///
  /// Whom the audit log and tokens mean by the subject stays known. So do the digests of public keys, of which nothing says any more
  /// whose they were: no other account gets them. Requests of clients of OpenID Connect stay until their clients cannot ask for them
  /// any more. A token with a serial number goes back to the stock.
  ///
  /// - Parameters:
  ///   - id: The user.
  ///   - subject: As that of ``suspendUser(_:reason:subject:at:audit:ended:)``.
  ///   - time: When.
  ///   - audit: The event.
  ///   - ended: Makes the event of each request that ends, of its id.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  public func deleteUser(
    _ id: UserID, subject: String, at time: Int64, audit: AuditRecord,
    ended: @escaping @Sendable (TransactionID) -> AuditRecord
  ) async throws(StorageFailure) -> UserChangeOutcome {
    try await write { database in
      guard let user = try database.anyUser(id) else { return .unknown }
      switch user.deleted(calling: subject, at: time) {
      case .refused(let outcome): return outcome
      case .made(let deleted):
        try database.endAll(of: id, at: time, ended)
        try database.removeAll(of: deleted)
        try database.update(deleted)
        try database.appendAudit(audit)
        try database.eraseID(of: deleted)
        return .changed
      }
    }
  }
}

extension SQLConnection {
  /// The one gate: every step that accepts something of a user, or binds something to the account, asks here before it changes
  /// anything.
  ///
  /// A user that there is not passes: the step says so in its own way.
  ///
  /// - Throws: ``StorageFailure/userNotActive(_:)``, ``StorageFailure/altered(row:of:)``, ``SQLFailure``.
  func requireUsable(user: UserID) throws { try anyUser(user)?.requireUsable() }

  /// As ``requireUsable(user:)``, for the user whom another row names: without a row of the user somebody has taken that away.
  func requireUsable(owner user: UserID) throws { try requireUsable(owner: anyUser(user), named: user) }

  /// As ``requireUsable(owner:)``, for a user who was read with that row.
  func requireUsable(owner found: UserRecord?, named user: UserID) throws {
    guard let found else { throw UserRecord.missing(user) }
    try found.requireUsable()
  }

  /// As ``requireUsable(user:)``, for a user who was there before this step.
  ///
  /// - Throws: ``StorageFailure/unknown`` for one who was deleted since.
  func requireUsable(knownUser user: UserID) throws {
    guard let found = try anyUser(user) else { throw StorageFailure.unknown }
    try found.requireUsable()
  }

  /// Where a user stands; `nil` for none of this id.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``, ``SQLFailure``.
  func userState(_ id: UserID) throws -> UserRecord.State? { try anyUser(id)?.checked().state }

  /// Ends what is under way for a user.
  fileprivate func endAll(
    of user: UserID, at time: Int64, _ ended: (TransactionID) -> AuditRecord
  ) throws {
    try withdraw(where: "user_id = $1", .of(user), because: EndRecord.userNotActive, at: time, ended)
    for table in AuthenticatorRecord.Kind.tables { try table.endAtSuspension(of: user, at: time, in: self) }
    try recordChange(ofUser: user)
  }

  /// Removes what is bound to an account.
  fileprivate func removeAll(of user: UserRecord) throws {
    for table in AuthenticatorRecord.Kind.tables { try table.remove(of: user, in: self) }
    let account: [SQLValue] = [.of(user.id)]
    try removeRequestsOfDeletedUsers("transactions.user_id = $1 AND state <> 'pending'", account)
    _ = try execute("DELETE FROM devices WHERE user_id = $1", account)
    _ = try execute("DELETE FROM waits WHERE user_id = $1", account)
    _ = try execute("DELETE FROM request_shares WHERE user_id = $1", account)
    _ = try execute(
      "DELETE FROM audit_counts WHERE requester IN ($1, $2)",
      [Storage.Requester.targets(user: user.id), .claimant(user: user.id)].map { .text($0.name) })
    try forgetHolders(of: user.id)
  }

  /// Has the row of a deleted user, and those that name it, go on under the subject.
  fileprivate func eraseID(of user: UserRecord) throws {
    let mac = try rowMAC
    // With the codes that cover the id.
    let requests = try rows(
      "SELECT \(TransactionRecord.columns) FROM transactions WHERE user_id = $1", [.of(user.id)]
    ) { row -> TransactionRecord? in
      // One that was altered is good for nothing under either name.
      do { return try TransactionRecord(row, mac) } catch StorageFailure.altered { return nil }
    }
    var user = user
    try execute(
      "UPDATE users SET id = $1 WHERE id = $2", [.text(user.subject), .of(user.id)], changing: 1)
    user.id = UserID(unchecked: user.subject)
    try update(user)
    // What was signed names the id, by a container as by others, and has an app's secret beside it.
    _ = try execute(
      "UPDATE transactions SET decision = NULL, evidence = NULL, evidence_key = NULL WHERE user_id = $1",
      [.of(user.id)])
    for case var request? in requests {
      (request.user, request.evidence) = (user.id, nil)
      request.decision?.jws = nil
      try execute(
        "UPDATE transactions SET code = $1 WHERE id = $2",
        [.optional(mac.mac(of: request.image)), .of(request.id)], changing: 1)
    }
  }

  /// Removes requests to users who are gone, but for those that a client may still ask for.
  ///
  /// - Parameters:
  ///   - condition: Which, with parameters.
  ///   - values: Its values.
  /// - Throws: ``SQLFailure``.
  func removeRequestsOfDeletedUsers(_ condition: String, _ values: [SQLValue] = []) throws {
    let naming = ["backchannel_requests"] + AuthenticatorRecord.Kind.answering.compactMap { $0.asks?.name }
    let unnamed = naming.map { " AND NOT EXISTS (SELECT 1 FROM \($0) WHERE txn = transactions.id)" }
    _ = try execute("DELETE FROM transactions WHERE \(condition)\(unnamed.joined())", values)
  }
}

extension UserRecord {
  /// - Throws: ``refusal``.
  func requireUsable() throws(StorageFailure) {
    if let refusal { throw refusal }
  }
}
