import SignetSQL

extension Storage {
  /// Adds a user.
  ///
  /// - Throws: ``StorageFailure/exists`` for an id that exists.
  package func addUser(_ user: UserRecord, audit: AuditRecord) async throws(StorageFailure) {
    try await write { database in
      try database.insert(user)
      try database.appendAudit(audit)
    }
  }

  /// Adds many rows at once, without rules and events: the start of a speed test.
  package func seed(
    users: [UserRecord], activations: [ActivationRecord] = [], containers: [ContainerRecord] = [],
    credentials: [CredentialRecord] = []
  ) async throws(StorageFailure) {
    try await write { database in
      for user in users { try database.insert(user) }
      for activation in activations { try database.insert(activation) }
      for container in containers { try database.insert(container) }
      for credential in credentials { try database.insert(credential) }
    }
  }

  /// Returns the user with this id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify.
  package func user(_ id: UserID) async throws(StorageFailure) -> UserRecord? {
    try await read { try $0.anyUser(id)?.checked() }
  }

  /// Returns the user with this id, even if the row's MAC does not verify; `nil` for none.
  package func anyUser(_ id: UserID) async throws(StorageFailure) -> UserRecord? {
    try await read { try $0.anyUser(id) }
  }

  /// Returns the user with this subject; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify.
  package func user(subject: String) async throws(StorageFailure) -> UserRecord? {
    try await read { try $0.anyUser(subject: subject)?.checked() }
  }

  /// Returns the ids of users by their subjects, without unknown users and those whose row MAC does not verify.
  package func userIDs(of subjects: Set<String>) async throws(StorageFailure) -> [String: UserID] {
    guard !subjects.isEmpty else { return [:] }
    return try await read { database in
      var ids: [String: UserID] = [:]
      for subject in subjects {
        guard let user = try database.anyUser(subject: subject), user.state != .altered else { continue }
        ids[subject] = user.id
      }
      return ids
    }
  }

  /// Returns all users, by id, including those whose row MAC does not verify.
  package func users() async throws(StorageFailure) -> [UserRecord] {
    try await read { try $0.records("ORDER BY id") }
  }

  /// Resets the counts of a user's wrong codes and signatures, and the waiting times of addresses and requests.
  ///
  /// - Returns: `true` if there is such a user.
  package func unlockUser(_ id: UserID, audit: AuditRecord) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard try database.userState(id) != nil else { return false }
      try database.endRow(of: id)
      for table in AuthenticatorRecord.Kind.tables { try table.forgetFailures(of: id, in: database) }
      _ = try database.execute("DELETE FROM waits WHERE user_id = $1", [.of(id)])
      try database.appendAudit(audit)
      return true
    }
  }

  /// Sets or removes the user code, as a keyed digest; the waiting times of addresses and clients are reset.
  ///
  /// - Returns: `true` if there is such a user.
  /// - Throws: ``StorageFailure/userNotActive(_:)`` if a code is set for a user who is not active.
  package func setUserCode(
    _ digest: [UInt8]?, of user: UserID, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard var found = try database.anyUser(user)?.checked() else { return false }
      if digest != nil { try found.requireUsable() }
      found.codeDigest = digest
      try database.update(found)
      _ = try database.execute("DELETE FROM waits WHERE user_id = $1", [.of(user)])
      try database.appendAudit(audit)
      return true
    }
  }

  /// Makes one attempt with a user code: passes the digest of the code and the waiting time to `verify`, and writes its
  /// result, as ``attemptCode(_:verify:)`` does.
  ///
  /// - Parameters:
  ///   - subject: The user, and the client that makes the attempt.
  ///   - verify: Compares, and returns the effects.
  /// - Returns: The outcome of the result; `nil` if the user has no code, in which case nothing is written.
  /// - Throws: ``StorageFailure``: `unknown` for a user who was deleted, in which case nothing is written either.
  package func tryUserCode(
    _ subject: OTPSubject, verify: @escaping @Sendable (_ codeDigest: [UInt8], WaitRecord?) -> OTPResult
  ) async throws(StorageFailure) -> CodeOutcome? {
    try await write { database in
      guard let user = subject.user else { throw StorageFailure.unknown }
      try database.requireUsable(knownUser: user)
      guard let digest = try database.anyUser(user)?.checked().codeDigest else { return nil }
      let wait = try database.wait(for: subject)
      let result = verify(digest, wait)
      if result.wait != wait { try database.setWait(result.wait, for: subject) }
      try database.appendAudit(result.audit, as: result.entry(ofCodeOf: user))
      return result.outcome
    }
  }
}

extension UserRecord.State: SQLRepresentable {}
