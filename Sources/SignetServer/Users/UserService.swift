import SignetProtocol
package import SignetStorage
import SignetSystem

/// Users and their containers, for operators.
package struct UserService: Sendable {
  private let context: ServiceContext

  /// Creates the service of a context.
  package init(_ context: ServiceContext) { self.context = context }

  /// Adds a user.
  ///
  /// - Parameters:
  ///   - user: The id.
  ///   - displayName: The person's name for operators: one line of at most 128 plain characters; `nil` for none.
  ///   - actor: The caller's name in the audit log.
  /// - Throws: ``Problem/Code/exists``, ``Problem/Code/malformed`` for an id that looks like a subject, and for an invalid
  ///   name.
  package func add(_ user: UserID, displayName: String? = nil, by actor: AuditActor) async throws {
    try check(displayName: displayName)
    guard !user.text.hasPrefix(UserRecord.subjectPrefix) else {
      throw Problem(
        .malformed,
        "Choose an id that does not begin with ~; ~ is reserved for names in the audit log and in tokens.")
    }
    var record = UserRecord(id: user, subject: makeSubject(), created: context.clock.now)
    record.displayName = displayName
    try await context.storage.addUser(record, audit: context.audit(by: actor)(.userAdded(user: user)))
  }

  /// Changes or removes a user's display name.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - displayName: The new name, with the limits of ``add(_:displayName:by:)``.
  ///   - actor: The caller's name in the audit log; the log does not contain the display name.
  /// - Returns: The user.
  /// - Throws: ``Problem/Code/unknown``, ``Problem/Code/malformed``, or ``Problem/Code/userNotActive`` if the row was
  ///   altered.
  package func rename(_ user: UserID, to displayName: String?, by actor: AuditActor) async throws
    -> UserRecord
  {
    try check(displayName: displayName)
    let event = context.audit(by: actor)(.userRenamed(user: user))
    return try await change(user) { (storage) throws(StorageFailure) in
      try await storage.renameUser(user, to: displayName, audit: event)
    }
  }

  private func check(displayName: String?) throws {
    guard let displayName else { return }
    try reading(DisplayText.checkLine(displayName, member: "displayName", limit: 128))
  }

  private func makeSubject() -> String {
    "\(UserRecord.subjectPrefix)\(ID<UserRecord>(random: context.random))"
  }

  /// Returns all users, ordered by id.
  package func all() async throws -> [UserRecord] {
    try await context.storage.users()
  }

  /// Returns a user by id, in any state.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  package func find(_ user: UserID) async throws -> UserRecord {
    guard let found = try await context.storage.anyUser(user) else {
      throw Problem(noUser: user)
    }
    return found
  }

  /// Suspends a user: every process rejects the user's requests at once, and open transactions end.
  ///
  /// If the row was altered, this also restores a valid row.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - reason: The reason: at most 1,000 plain characters, no line feed; may be empty.
  ///   - actor: The caller's name in the audit log.
  /// - Returns: The user.
  /// - Throws: ``Problem/Code/unknown``.
  package func suspend(_ user: UserID, reason: String, by actor: AuditActor) async throws
    -> UserRecord
  {
    try reading(Cancellation.check(reason, member: "reason"))
    let (audit, subject) = (context.audit(by: actor), makeSubject())
    return try await change(user) { (storage) throws(StorageFailure) in
      try await storage.suspendUser(
        user, reason: reason, subject: subject, at: audit.time,
        audit: audit(.userSuspended(user: user, reason: reason))
      ) { audit(.transactionWithdrawn(transaction: $0, reason: EndRecord.userNotActive)) }
    }
  }

  /// Resumes a suspended user.
  ///
  /// - Returns: The user.
  /// - Throws: ``Problem/Code/unknown``, or ``Problem/Code/userNotActive`` if the row was altered.
  package func resume(_ user: UserID, by actor: AuditActor) async throws -> UserRecord {
    let audit = context.audit(by: actor)
    return try await change(user) { (storage) throws(StorageFailure) in
      try await storage.resumeUser(user, at: audit.time, audit: audit(.userResumed(user: user)))
    }
  }

  /// Deletes a user, everything bound to the account, and the id.
  ///
  /// - Returns: The remaining record, which contains only the subject.
  /// - Throws: ``Problem/Code/unknown``.
  package func delete(_ user: UserID, by actor: AuditActor) async throws -> UserRecord {
    let (audit, subject) = (context.audit(by: actor), makeSubject())
    let found = try await find(user)
    let remaining = found.state == .altered ? subject : found.subject
    return try await change(user, leaving: UserID(unchecked: remaining)) { (storage) throws(StorageFailure) in
      try await storage.deleteUser(
        user, subject: subject, at: audit.time, audit: audit(.userDeleted(user: user))
      ) { audit(.transactionWithdrawn(transaction: $0, reason: EndRecord.userNotActive)) }
    }
  }

  private func change(
    _ user: UserID, leaving remaining: UserID? = nil,
    _ step: (Storage) async throws(StorageFailure) -> UserChangeOutcome
  ) async throws -> UserRecord {
    let outcome = try await step(context.storage)
    switch outcome {
    case .changed, .unchanged:
      guard let found = try await context.storage.anyUser(remaining ?? user) else {
        throw Problem(noUser: user)
      }
      return found
    case .unknown:
      _ = try await find(user)
      throw Problem(
        .unknown, "The user was deleted permanently; add the person again ('signet-server user add').")
    case .altered:
      throw Problem(
        .userNotActive,
        "The row of the user was altered in the database; suspend the user first, then resume the user.")
    }
  }

  /// Returns a user's containers, oldest first.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  package func containers(of user: UserID) async throws -> [ContainerRecord] {
    _ = try await find(user)
    return try await context.storage.containers(user: user)
  }

  /// Returns a container in any state.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  package func container(_ id: ContainerID) async throws -> ContainerRecord {
    guard let container = try await context.storage.anyContainer(id) else {
      throw Self.noContainer
    }
    return container
  }

  /// Revokes a container permanently, with the UAF keys and targets on its device.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - actor: The caller's name in the audit log.
  /// - Returns: The revoked container.
  /// - Throws: ``Problem/Code/unknown``.
  @discardableResult
  package func revokeContainer(_ id: ContainerID, by actor: AuditActor) async throws -> ContainerRecord {
    let event = context.audit(by: actor)(.containerRevoked(container: id))
    let exists = try await context.storage.revokeContainer(id, audit: event, lost: context.losses(by: actor))
    guard exists else { throw Self.noContainer }
    return try await container(id)  // the row exists: containers are never deleted
  }

  // MARK: User codes

  /// Creates a code that OpenID Connect clients need to ask the user (CIBA section 7.1); it replaces an earlier one.
  ///
  /// - Returns: 8 digits; the server stores only their digest.
  /// - Throws: ``Problem/Code/unknown``.
  package func setCode(of user: UserID, by actor: AuditActor) async throws -> String {
    let half = { MatchingNumber(digitCount: 4, random: context.random).digits }
    let code = half() + half()
    let digest = context.masterKey.digest(ofUserCode: code, of: user)
    try await setCode(digest, of: user, audit: context.audit(by: actor)(.userCodeSet(user: user)))
    return code
  }

  /// Removes a user's code, so that clients may ask without it.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  package func removeCode(of user: UserID, by actor: AuditActor) async throws {
    try await setCode(nil, of: user, audit: context.audit(by: actor)(.userCodeRemoved(user: user)))
  }

  private func setCode(
    _ digest: [UInt8]?, of user: UserID, audit event: AuditRecord
  ) async throws {
    let exists = try await context.storage.setUserCode(digest, of: user, audit: event)
    guard exists else { throw Problem(noUser: user) }
  }

  private static let noContainer = Problem(.unknown, "There is no container with this id.")
}
