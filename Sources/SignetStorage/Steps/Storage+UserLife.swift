import SignetSQL

extension Storage {
  /// Suspends a user: from this step on no step accepts input of the user, and pending operations end.
  ///
  /// Open requests are withdrawn, invites and UAF operations end, and waiting devices are notified. A row whose MAC does not
  /// verify is rewritten.
  ///
  /// - Parameters:
  ///   - id: The user.
  ///   - reason: The reason in the operator's words.
  ///   - subject: A new subject for a row whose MAC does not verify: the subject in it may be that of another user.
  ///   - time: The time of the suspension.
  ///   - audit: The event.
  ///   - ended: Makes the event for the id of each request that ends.
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure``.
  package func suspendUser(
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

  /// Resumes a suspended user, who can use the bound authenticators again.
  ///
  /// - Returns: The outcome.
  package func resumeUser(
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

  /// Sets or removes the display name of a user.
  ///
  /// - Parameters:
  ///   - id: The user.
  ///   - displayName: The name; `nil` for none.
  ///   - audit: The event.
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure``.
  package func renameUser(
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

  /// Deletes a user: removes everything that is bound to the account, with its secrets, and frees the user's id for another user.
  ///
  /// The subject stays, so that the audit log and issued tokens keep their meaning. The digests of public keys stay too,
  /// without their owner, so that no other account can register these keys. Requests of OpenID Connect clients stay until
  /// their clients can no longer ask for them. A token with a serial number becomes unassigned.
  ///
  /// - Parameters:
  ///   - id: The user.
  ///   - subject: See ``suspendUser(_:reason:subject:at:audit:ended:)``.
  ///   - time: The time of the deletion.
  ///   - audit: The event.
  ///   - ended: Makes the event for the id of each request that ends.
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure``.
  package func deleteUser(
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
  /// Checks that a user is active; every step that accepts input of a user, or binds something to the account, calls it
  /// before it changes anything.
  ///
  /// An unknown user passes: the step reports that with its own outcome.
  ///
  /// - Throws: ``StorageFailure/userNotActive(_:)``, ``StorageFailure/altered(row:of:)``, ``SQLFailure``.
  func requireUsable(user: UserID) throws { try anyUser(user)?.requireUsable() }

  /// Checks the user that another row names, as ``requireUsable(user:)`` does; a missing row of the user counts as altered.
  func requireUsable(owner user: UserID) throws { try requireUsable(owner: anyUser(user), named: user) }

  /// Checks a user that was read together with the row that names it, as ``requireUsable(owner:)`` does.
  func requireUsable(owner found: UserRecord?, named user: UserID) throws {
    guard let found else { throw UserRecord.missing(user) }
    try found.requireUsable()
  }

  /// Checks a user that existed before this step, as ``requireUsable(user:)`` does.
  ///
  /// - Throws: ``StorageFailure/unknown`` for a user who has been deleted since.
  func requireUsable(knownUser user: UserID) throws {
    guard let found = try anyUser(user) else { throw StorageFailure.unknown }
    try found.requireUsable()
  }

  /// Returns the state of a user; `nil` for an unknown id.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``, ``SQLFailure``.
  func userState(_ id: UserID) throws -> UserRecord.State? { try anyUser(id)?.checked().state }

  /// Ends the pending operations of a user.
  fileprivate func endAll(
    of user: UserID, at time: Int64, _ ended: (TransactionID) -> AuditRecord
  ) throws {
    try withdraw(where: "user_id = $1", .of(user), because: EndRecord.userNotActive, at: time, ended)
    for table in AuthenticatorRecord.Kind.tables { try table.endAtSuspension(of: user, at: time, in: self) }
    try recordChange(ofUser: user)
  }

  /// Removes everything that is bound to an account.
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

  /// Replaces the id of a deleted user by the subject, in the user's row and in the rows that name it.
  fileprivate func eraseID(of user: UserRecord) throws {
    let mac = try rowMAC
    // Their MACs cover the id, so they are computed again below. A row whose MAC does not verify stays invalid under the new id.
    let requests: [TransactionRecord] = try intactRecords("WHERE user_id = $1", [.of(user.id)])
    var user = user
    try execute(
      "UPDATE users SET id = $1 WHERE id = $2", [.text(user.subject), .of(user.id)], changing: 1)
    user.id = UserID(unchecked: user.subject)
    try update(user)
    // A container's decision and the evidence contain the id, and the evidence has an app's secret with it.
    _ = try execute(
      "UPDATE transactions SET decision = NULL, evidence = NULL, evidence_key = NULL WHERE user_id = $1",
      [.of(user.id)])
    for var request in requests {
      (request.user, request.evidence) = (user.id, nil)
      request.decision?.jws = nil
      try execute(
        "UPDATE transactions SET code = $1 WHERE id = $2",
        [.optional(mac.mac(of: request.image)), .of(request.id)], changing: 1)
    }
  }

  /// Removes requests to deleted users, except those that a client may still ask for.
  ///
  /// - Parameters:
  ///   - condition: The SQL condition that selects them, with parameters.
  ///   - values: The values of the parameters.
  /// - Throws: ``SQLFailure``.
  func removeRequestsOfDeletedUsers(_ condition: String, _ values: [SQLValue] = []) throws {
    let referencingTables =
      ["backchannel_requests"] + AuthenticatorRecord.Kind.answering.compactMap { $0.messageTable?.name }
    let unreferenced = referencingTables.map {
      " AND NOT EXISTS (SELECT 1 FROM \($0) WHERE txn = transactions.id)"
    }
    _ = try execute("DELETE FROM transactions WHERE \(condition)\(unreferenced.joined())", values)
  }
}

extension UserRecord {
  /// - Throws: ``refusal``.
  func requireUsable() throws(StorageFailure) {
    if let refusal { throw refusal }
  }
}
