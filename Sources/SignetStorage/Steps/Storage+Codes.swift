import SignetSQL
package import SignetSystem

extension Storage {
  /// Makes one attempt with one-time passwords: passes the credentials to `verify`, and writes its result, in one step.
  ///
  /// No other attempt of any process runs in between: of two attempts with the same code, the later one finds the code used.
  /// `verify` must have no side effects; it may run again if the step is retried. A result that would decrease a counter is
  /// rejected. If the ``OTPSubject/key`` is revoked, nothing is verified or written.
  ///
  /// - Parameters:
  ///   - subject: The user or the token, and the caller.
  ///   - verify: Verifies the codes.
  /// - Returns: The outcome of the result, ``CodeOutcome/keyRevoked``, or ``StorageFailure``, once it is durable. A listener
  ///   is called on the thread that writes, and must not block.
  package func attemptCode(
    _ subject: OTPSubject, verify: @escaping @Sendable (OTPSnapshot) -> OTPResult
  ) -> Completion<CodeOutcome> {
    begin { database in
      guard try database.isKeyValid(subject.key) else { return .keyRevoked }
      let (found, owner) = try database.credentials(for: subject)
      let wait = try database.wait(for: subject)
      let user = subject.user ?? found.first?.1.user
      let state = try owner?.checked().state ?? user.flatMap { try database.userState($0) }
      if let user, state == nil, !found.isEmpty { throw UserRecord.missing(user) }
      let result = verify(OTPSnapshot(found.map(\.1), of: user, state, wait: wait))
      for credential in result.changed {
        guard let row = found.first(where: { $0.1.id == credential.id }) else { continue }
        try database.update(credential, number: row.number)
      }
      if result.wait != wait { try database.setWait(result.wait, for: subject) }
      try database.appendAudit(result.audit, as: result.entry(of: user, state, by: subject.key))
      return result.outcome
    }
  }
}

extension SQLConnection {
  /// The API keys that are known as not revoked, cached while no other connection changes the database.
  static let validKeys = TransactionLocal<Set<ID<APIKeyRecord>>>(isRetained: true)
  private static let validKeyLimit = 64

  /// Returns `true` if a key exists and is not revoked, or if there is no key to check.
  func isKeyValid(_ key: ID<APIKeyRecord>?) throws -> Bool {
    guard let key else { return true }
    let known = try local(Self.validKeys, load: { [] })
    if known.contains(key) { return true }
    // An altered row is rejected and reported where it is read again.
    let isValid = try anyAPIKey(key)?.isValid ?? false
    if isValid { setLocal(Self.validKeys, to: known.count < Self.validKeyLimit ? known.union([key]) : [key]) }
    return isValid
  }

  // Built once, because each code uses them; the join with the user saves a query.
  private static let credentialsAndUser = """
    SELECT \(CredentialRecord.columns.columns(of: "credentials")), credentials.number, \(UserRecord.columns.columns(of: "users"))
    FROM credentials LEFT JOIN users ON users.id = credentials.user_id
    """
  private static let activeCredentials = """
    \(credentialsAndUser)
    WHERE credentials.user_id = $1 AND credentials.state = 'active' ORDER BY credentials.number
    """
  private static let credentialBySerial = """
    \(credentialsAndUser)
    WHERE credentials.serial = $1 AND (credentials.user_id = $2 OR $2 IS NULL)
    """

  /// Returns the credentials of an attempt, each with the number of its row, and their user, even if the user's row MAC does
  /// not verify.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if a credential's row MAC does not verify; ``SQLFailure``.
  fileprivate func credentials(
    for subject: OTPSubject
  ) throws -> (found: [(number: Int64, CredentialRecord)], owner: UserRecord?) {
    let mac = try rowMAC
    var owner: UserRecord?
    let decode: (SQLRow) throws -> (number: Int64, CredentialRecord) = { row in
      let credential = try CredentialRecord(row, mac).checked()
      if owner == nil { owner = try self.anyUser(in: row, from: CredentialRecord.columnCount + 1) }
      return (try row.integer(CredentialRecord.columnCount), credential)
    }
    let found =
      if let serial = subject.serial {
        try rows(Self.credentialBySerial, [.text(serial), .optional(subject.user)], decode)
      } else {
        try rows(Self.activeCredentials, [.optional(subject.user)], decode)
      }
    return (found, owner)
  }

  func wait(for subject: OTPSubject) throws -> WaitRecord? {
    guard let user = subject.user, let client = subject.client else { return nil }
    return try row(
      "SELECT failures, until, expires FROM waits WHERE user_id = $1 AND client = $2",
      [.of(user), .blob(client)]
    ) { WaitRecord(failures: try $0.int(0), until: try $0.integer(1), expires: try $0.integer(2)) }
  }

  func setWait(_ wait: WaitRecord?, for subject: OTPSubject) throws {
    guard let user = subject.user, let client = subject.client else { return }
    guard let wait else {
      _ = try execute("DELETE FROM waits WHERE user_id = $1 AND client = $2", [.of(user), .blob(client)])
      return
    }
    try execute(
      """
      INSERT INTO waits (user_id, client, failures, until, expires) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (user_id, client) DO UPDATE SET failures = excluded.failures, until = excluded.until,
          expires = excluded.expires
      """,
      [.of(user), .blob(client), .int(wait.failures), .integer(wait.until), .integer(wait.expires)],
      changing: 1)
  }
}
