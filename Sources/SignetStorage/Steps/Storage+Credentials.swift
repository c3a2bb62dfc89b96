import SignetSQL

extension Storage {
  /// Returns the credential with this id in any state; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify.
  package func credential(_ id: ID<CredentialRecord>) async throws(StorageFailure) -> CredentialRecord? {
    try await read { try $0.credential(id) }
  }

  /// Returns the tokens whose serial numbers follow this one, in byte order, including those whose row MAC does not verify.
  ///
  /// - Parameters:
  ///   - serial: The last one of the previous page; empty for the first page.
  ///   - user: The user; `nil` for all.
  ///   - limit: The maximum number of tokens.
  /// - Returns: The tokens.
  /// - Throws: ``StorageFailure``.
  package func tokens(
    after serial: String, user: UserID?, limit: Int
  ) async throws(StorageFailure) -> [CredentialRecord] {
    try await read {
      try $0.records(
        "WHERE serial > $1 AND (user_id = $2 OR $2 IS NULL) ORDER BY serial LIMIT $3",
        [.text(serial), .optional(user), .int(max(0, limit))])
    }
  }

  /// Adds the tokens whose serial numbers are new; an existing token is not changed.
  ///
  /// - Parameters:
  ///   - tokens: The tokens; each has a serial number.
  ///   - audit: Makes the event of a token that was added.
  /// - Returns: The serial numbers that were added.
  /// - Throws: ``StorageFailure/unknown`` for an unknown user; then none was added.
  package func addTokens(
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

  /// Assigns a token to a user, or unassigns it; it must be verified again, and its count of failures is reset.
  ///
  /// - Parameters:
  ///   - serial: The token.
  ///   - user: The user; `nil` for none.
  ///   - audit: The event.
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure``.
  package func assignToken(
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

  /// Disables a token, or enables it so that it can be verified again.
  ///
  /// - Parameters:
  ///   - serial: The token.
  ///   - isDisabled: True to disable it; false makes a disabled token pending.
  ///   - audit: The event.
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure``.
  package func disableToken(
    _ serial: String, _ isDisabled: Bool, audit: AuditRecord
  ) async throws(StorageFailure) -> TokenOutcome {
    try await write { database in
      try database.changeToken(serial, audit) { try database.update($0.disabled(isDisabled)) }
    }
  }

  /// Removes a token and its secret.
  ///
  /// - Returns: The outcome.
  package func removeToken(_ serial: String, audit: AuditRecord) async throws(StorageFailure) -> TokenOutcome
  {
    try await write { database in
      guard try database.exists("SELECT 1 FROM credentials WHERE serial = $1", [.text(serial)]) else {
        return .unknownToken
      }
      // The event is written before the change, because its outbox event reads the user from whom the token is taken.
      try database.appendAudit(audit)
      try database.execute("DELETE FROM credentials WHERE serial = $1", [.text(serial)], changing: 1)
      return .done
    }
  }
}

extension SQLConnection {
  /// Resets the count of consecutive wrong codes, which includes wrong answers.
  func forgetFailures(of id: ID<CredentialRecord>) throws {
    _ = try execute("UPDATE credentials SET failures = 0 WHERE id = $1 AND failures > 0", [.of(id)])
  }

  /// Counts a wrong answer against all active containers of a user, because any of them may have made it.
  ///
  /// - Returns: `true` if a container had not reached the limit.
  func countFailure(ofAllContainersOf user: UserID, limit: Int) throws -> Bool {
    try execute(
      """
      UPDATE credentials SET failures = failures + 1
      WHERE user_id = $1 AND state = 'active' AND serial IS NULL AND failures < $2
      """, [.of(user), .int(limit)]) > 0
  }

  /// Removes the one-time-password credential of a container.
  func removeCredential(_ id: ID<CredentialRecord>) throws {
    _ = try execute("DELETE FROM credentials WHERE id = $1", [.of(id)])
  }

  /// Removes the pending containers of an origin, with their credentials and their registered keys.
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

  /// Returns the credential with this id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify; ``SQLFailure``.
  func credential(_ id: ID<CredentialRecord>) throws -> CredentialRecord? { try anyCredential(id)?.checked() }

  /// Returns the credential with this id, even if its row's MAC does not verify; `nil` for none.
  func anyCredential(_ id: ID<CredentialRecord>) throws -> CredentialRecord? {
    try credentials("id = $1", [.of(id)]).first
  }

  /// Returns a user's credentials, oldest first, including those whose row MAC does not verify.
  func credentials(of user: UserID) throws -> [CredentialRecord] {
    try credentials("user_id = $1", [.of(user)])
  }

  private func credentials(_ condition: String, _ values: [SQLValue]) throws -> [CredentialRecord] {
    try records("WHERE \(condition) ORDER BY number", values)
  }

  fileprivate func changeToken(
    _ serial: String, _ audit: AuditRecord, _ change: (CredentialRecord) throws -> Void
  ) throws -> TokenOutcome {
    guard let token = try credentials("serial = $1", [.text(serial)]).first?.checked() else {
      return .unknownToken
    }
    // The event is written before the change, because its outbox event reads the user from whom the token is taken.
    try appendAudit(audit)
    try change(token)
    return .done
  }
}
