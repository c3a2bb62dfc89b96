public import SignetSQL

extension Storage {
  /// Adds a user.
  ///
  /// - Throws: ``StorageFailure/exists`` when there is one of this id.
  public func addUser(_ user: UserRecord, audit: AuditRecord) async throws(StorageFailure) {
    try await write { database in
      try database.insert(user)
      try database.appendAudit(audit)
    }
  }

  /// Adds many rows at once, past all rules and without events: what a test of speed begins with.
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

  /// The user of this id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so.
  public func user(_ id: UserID) async throws(StorageFailure) -> UserRecord? {
    try await read { try $0.anyUser(id)?.checked() }
  }

  /// The user of this id, also one whose row was altered; `nil` for none.
  public func anyUser(_ id: UserID) async throws(StorageFailure) -> UserRecord? {
    try await read { try $0.anyUser(id) }
  }

  /// The user of this subject; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so.
  public func user(subject: String) async throws(StorageFailure) -> UserRecord? {
    try await read { try $0.anyUser(subject: subject)?.checked() }
  }

  /// The ids of users by their subjects; of none that there is not, and of none whose row was altered.
  public func userIDs(of subjects: Set<String>) async throws(StorageFailure) -> [String: UserID] {
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

  /// All users, by id, also those whose rows were altered.
  public func users() async throws(StorageFailure) -> [UserRecord] {
    try await read { [mac] database in
      try database.rows("SELECT \(UserRecord.columns) FROM users ORDER BY id") { try UserRecord($0, mac) }
    }
  }

  /// Forgets what failed: the codes and signatures of a user, and what addresses have to wait.
  ///
  /// - Returns: Whether there is such a user.
  public func unlockUser(_ id: UserID, audit: AuditRecord) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard try database.userState(id) != nil else { return false }
      try database.endRow(of: id)
      for table in AuthenticatorRecord.Kind.tables { try table.forgetFailures(of: id, in: database) }
      _ = try database.execute("DELETE FROM waits WHERE user_id = $1", [.of(id)])
      try database.appendAudit(audit)
      return true
    }
  }

  /// Sets the code of a user, as a keyed digest, or removes it; what addresses and clients have to wait is forgotten.
  ///
  /// - Returns: Whether there is such a user.
  /// - Throws: ``StorageFailure/userNotActive(_:)`` for a code of a user who is not active.
  public func setUserCode(
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

  /// Makes one attempt to use a user's code: shows `verify` the digest of the code and what the client has to wait, and writes down what
  /// it says, in one step, as ``attemptCode(_:verify:)`` does.
  ///
  /// - Parameters:
  ///   - subject: Whose code, and who tries.
  ///   - verify: Compares, and says what follows.
  /// - Returns: The result's outcome; `nil` where the user has no code, of which nothing is written.
  /// - Throws: ``StorageFailure``: `unknown` for a user who was deleted, of which nothing is written either.
  public func tryUserCode(
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
