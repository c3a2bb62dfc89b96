import SignetSQL

extension Storage {
  /// The credential of this id in any state; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so.
  public func credential(_ id: ID<CredentialRecord>) async throws(StorageFailure) -> CredentialRecord? {
    try await read { try $0.credential(id) }
  }

  /// The tokens whose serial numbers come after this one, in the order of their bytes, at most `limit`; also those whose rows were
  /// altered.
  ///
  /// - Parameters:
  ///   - serial: The last one of the page before; empty for the first page.
  ///   - user: Whose; `nil` for all.
  ///   - limit: The most.
  /// - Returns: The tokens.
  /// - Throws: ``StorageFailure``.
  public func tokens(
    after serial: String, user: UserID?, limit: Int
  ) async throws(StorageFailure) -> [CredentialRecord] {
    try await read { [mac] database in
      try database.rows(
        "SELECT \(CredentialRecord.columns) FROM credentials WHERE serial > $1 AND (user_id = $2 OR $2 IS NULL) ORDER BY serial LIMIT $3",
        [.text(serial), .optional(user), .int(max(0, limit))]
      ) { try CredentialRecord($0, mac) }
    }
  }

  /// Adds those tokens whose serial numbers are new; one that is there stays as it is.
  ///
  /// - Parameters:
  ///   - tokens: The tokens; each has a serial number.
  ///   - audit: Makes the event of a token that was added.
  /// - Returns: The serial numbers that were added.
  /// - Throws: ``StorageFailure/unknown`` when there is no such user; then none was added.
  public func addTokens(
    _ tokens: [CredentialRecord], audit: @escaping @Sendable (CredentialRecord) -> AuditRecord
  ) async throws(StorageFailure) -> [String] {
    try await write { database in
      var added: [String] = []
      for token in tokens {
        let serial = token.serial ?? ""
        guard try !database.exists("SELECT 1 FROM credentials WHERE serial = $1", [.text(serial)]) else {
          continue
        }
        if let user = token.user { try database.requireUsable(user: user) }
        try database.insert(token)
        try database.appendAudit(audit(token))
        added.append(serial)
      }
      return added
    }
  }

  /// Gives a token to a user, or to nobody; it has to be verified again, and its failures are forgotten.
  ///
  /// - Parameters:
  ///   - serial: The token.
  ///   - user: The user; `nil` for nobody.
  ///   - audit: The event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  public func assignToken(
    _ serial: String, to user: UserID?, audit: AuditRecord
  ) async throws(StorageFailure) -> TokenOutcome {
    try await write { database in
      if let user {
        guard let found = try database.anyUser(user) else { return .unknownUser }
        try found.requireUsable()
      }
      return try database.changeToken(serial, audit) { try database.assign($0, to: user) }
    }
  }

  /// Takes a token out of use, or lets it be verified again.
  ///
  /// - Parameters:
  ///   - serial: The token.
  ///   - isDisabled: Whether it is out of use; otherwise it is pending where it was disabled.
  ///   - audit: The event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  public func disableToken(
    _ serial: String, _ isDisabled: Bool, audit: AuditRecord
  ) async throws(StorageFailure) -> TokenOutcome {
    try await write { database in
      try database.changeToken(serial, audit) { try database.update($0.disabled(isDisabled)) }
    }
  }

  /// Removes a token and its secret.
  ///
  /// - Returns: How it ended.
  public func removeToken(_ serial: String, audit: AuditRecord) async throws(StorageFailure) -> TokenOutcome {
    try await write { database in
      guard try database.exists("SELECT 1 FROM credentials WHERE serial = $1", [.text(serial)]) else {
        return .unknownToken
      }
      // Before the change: whoever is told of it is told of the user from whom the token is taken.
      try database.appendAudit(audit)
      try database.execute("DELETE FROM credentials WHERE serial = $1", [.text(serial)], changing: 1)
      return .done
    }
  }
}

extension SQLConnection {
  /// Ends a row of wrong codes, or of wrong answers, which count as these.
  func forgetFailures(of id: ID<CredentialRecord>) throws {
    _ = try execute("UPDATE credentials SET failures = 0 WHERE id = $1 AND failures > 0", [.of(id)])
  }

  /// Counts a wrong answer that may be of any of a user's containers.
  ///
  /// - Returns: Whether there is one that has not reached the limit.
  func countFailure(ofAllContainersOf user: UserID, limit: Int) throws -> Bool {
    try execute(
      """
      UPDATE credentials SET failures = failures + 1
      WHERE user_id = $1 AND state = 'active' AND serial IS NULL AND failures < $2
      """, [.of(user), .int(limit)]) > 0
  }

  /// Forgets what made a container's codes.
  func removeCredential(_ id: ID<CredentialRecord>) throws {
    _ = try execute("DELETE FROM credentials WHERE id = $1", [.of(id)])
  }

  /// Removes pending containers, with their credentials and the claims to their keys, by what they are to come from.
  func removePending(_ origin: String, _ id: SQLValue) throws {
    _ = try execute(
      """
      DELETE FROM account_states WHERE container IN
        (SELECT id FROM containers WHERE \(origin) = $1 AND state = 'pending')
      """, [id])
    let removed = try rows(
      "DELETE FROM containers WHERE \(origin) = $1 AND state = 'pending' RETURNING id, user_id", [id]
    ) { (id: try $0.id(0) as ContainerID, user: try $0.user(1)) }
    for container in removed {
      try removeCredential(ID(of: container.id))
      try freeKeys(of: KeyHolder(kind: .container, authenticator: container.id.text, user: container.user))
    }
  }

  /// The credential of an id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  func credential(_ id: ID<CredentialRecord>) throws -> CredentialRecord? { try anyCredential(id)?.checked() }

  /// The credential of an id, also one whose row was altered; `nil` for none.
  func anyCredential(_ id: ID<CredentialRecord>) throws -> CredentialRecord? {
    try credentials("id = $1", [.of(id)]).first
  }

  /// A user's credentials, oldest first, also those whose rows were altered.
  func credentials(of user: UserID) throws -> [CredentialRecord] {
    try credentials("user_id = $1", [.of(user)])
  }

  private func credentials(_ condition: String, _ values: [SQLValue]) throws -> [CredentialRecord] {
    let mac = try rowMAC
    return try rows(
      "SELECT \(CredentialRecord.columns) FROM credentials WHERE \(condition) ORDER BY number", values
    ) { try CredentialRecord($0, mac) }
  }

  fileprivate func changeToken(
    _ serial: String, _ audit: AuditRecord, _ change: (CredentialRecord) throws -> Void
  ) throws -> TokenOutcome {
    guard let token = try credentials("serial = $1", [.text(serial)]).first?.checked() else {
      return .unknownToken
    }
    // Before the change: whoever is told of it is told of the user from whom the token is taken.
    try appendAudit(audit)
    try change(token)
    return .done
  }
}
