import SignetSQL

/// The storage of authenticator apps that answer push messages: mechanisms and messages.
struct PushAppTable: AnsweringTable {
  let kind = AuthenticatorRecord.Kind.pushApp
  let ownerQuery = "SELECT user_id FROM pushauth_mechanisms WHERE id = $1"
  let messageTable: MessageTable? = MessageTable(
    name: "pushauth_messages", openCondition: "state = 'pending'")

  var tables: [SQLTable] {
    [
      SQLTable(
        "pushauth_mechanisms",
        [
          .text("id").primaryKey, .text("user_id").references("users", "id"),
          .text("mechanism").optional.unique, .blob("sealed_secret"), .blob("challenge"),
          .blob("sealed_device").optional, .integer("created"), .integer("expires"), .text("state"),
          .text("credential").optional, .blob("seen_changes"), .blob("code").optional,
          .text("issuer"), .text("account"),
        ],
        indexes: [
          SQLIndex("pushauth_mechanisms_of_user", "user_id, created"),
          SQLIndex("open_pushauth_mechanisms", "expires", where: "state = 'open'"),
        ]),
      SQLTable(
        "pushauth_messages",
        [
          .text("id").primaryKey, .text("mechanism").references("pushauth_mechanisms", "id"), .text("kind"),
          .blob("challenge"), .blob("sealed_number").optional, .integer("created"), .integer("expires"),
          .text("state"), .integer("answered").optional,
          .text("txn").references("transactions", "id"), .blob("sealed_token").optional,
          .blob("code").optional,
        ],
        indexes: [
          SQLIndex("pushauth_messages_of_mechanism", "mechanism"),
          SQLIndex("pushauth_messages_of_transaction", "txn"),
          SQLIndex("pushauth_messages_by_expiry", "expires"),
          SQLIndex("pushauth_messages_with_text", "expires", where: "sealed_token IS NOT NULL"),
        ]),
    ]
  }

  func authenticators(
    of account: AccountSnapshot, in database: SQLConnection
  ) throws -> [AuthenticatorRecord] {
    try database.pushAuthMechanisms(user: account.user).map { mechanism in
      let (state, reason) = mechanism.status
      let codes = try mechanism.credential.flatMap { try database.anyCredential($0)?.knownUse }
      let answer = try database.lastAnsweredPushAuthMessage(of: mechanism.id)?.answered
      return AuthenticatorRecord(
        id: mechanism.id.text, of: .app(mechanism), name: "", state: state, reason: reason,
        created: mechanism.created, lastUsed: [codes, answer].compactMap(\.self).max())
    }
  }

  func endAtSuspension(of user: UserID, at time: Int64, in database: SQLConnection) throws {
    try removeMechanisms("user_id = $1 AND state = 'open'", [.of(user)], database)
  }

  func remove(of user: UserRecord, in database: SQLConnection) throws {
    _ = try database.execute(
      """
      DELETE FROM pushauth_messages WHERE mechanism IN
        (SELECT id FROM pushauth_mechanisms WHERE user_id = $1)
      """, [.of(user.id)])
    try removeMechanisms("user_id = $1", [.of(user.id)], database)
  }

  /// Removes mechanisms with their one-time-password credentials, which have a serial number as tokens do, and whose secret
  /// the app keeps.
  private func removeMechanisms(
    _ condition: String, _ values: [SQLValue], _ database: SQLConnection
  ) throws {
    _ = try database.execute(
      "DELETE FROM credentials WHERE id IN (SELECT credential FROM pushauth_mechanisms WHERE \(condition))",
      values)
    _ = try database.execute("DELETE FROM pushauth_mechanisms WHERE \(condition)", values)
  }

  /// Removes unused URIs that have expired, the texts of expired messages, and messages whose outcome was available for 30 days.
  func sweep(at time: Int64, in database: SQLConnection) throws {
    _ = try database.execute(
      """
      DELETE FROM credentials WHERE state = 'pending' AND id IN
        (SELECT credential FROM pushauth_mechanisms WHERE state = 'open' AND expires <= $1)
      """, [.integer(time)])
    _ = try database.execute(
      "DELETE FROM pushauth_mechanisms WHERE state = 'open' AND expires <= $1", [.integer(time)])
    // A message whose row MAC does not verify does not end with its transaction, so its text is removed here.
    _ = try database.execute(
      "UPDATE pushauth_messages SET sealed_token = NULL WHERE expires <= $1 AND sealed_token IS NOT NULL",
      [.integer(time)])
    _ = try database.execute(
      "DELETE FROM pushauth_messages WHERE expires <= $1", [.integer(time - 30 * 86_400)])
  }

  // MARK: Requests

  /// Determines if one of the asked apps is active; other apps do not get the request.
  func canAnswer(
    _ request: TransactionRecord, of user: UserID, _ authenticatorRequests: AuthenticatorRequestRecords?,
    at time: Int64,
    in database: SQLConnection
  ) throws -> Bool {
    let mechanisms =
      try authenticatorRequests.map { $0.messages.map(\.record.mechanism) }
      ?? database.rows(
        "SELECT mechanism FROM pushauth_messages WHERE txn = $1 AND state = 'pending'", [.of(request.id)]
      ) { try $0.id(0) }
    return try mechanisms.contains { try isActive($0, of: user, database) }
  }

  private func isActive(_ mechanism: ID<PushAuthMechanismRecord>, of user: UserID, _ database: SQLConnection)
    throws -> Bool
  {
    try database.anyPushAuthMechanism(mechanism)?.isInUse(of: user) ?? false
  }

  /// Adds the messages whose apps are still active.
  func add(_ authenticatorRequests: AuthenticatorRequestRecords, in database: SQLConnection) throws {
    for (message, audit) in authenticatorRequests.messages {
      guard try database.anyPushAuthMechanism(message.mechanism)?.state == .active else { continue }
      try database.add(message)
      try database.appendAudit(audit)
    }
  }

  func endMessages(of request: TransactionID, at time: Int64, in database: SQLConnection) throws {
    try database.expirePushAuthMessages(ofTransaction: request)
  }

  func isProofInUse(
    _ request: TransactionRecord, of user: UserID, in database: SQLConnection
  ) throws -> Bool? {
    try request.app.map { try isActive($0.mechanism, of: user, database) }
  }
}

// The check of users.
extension SQLConnection {
  /// Checks the user of a push mechanism, as ``requireUsable(user:)`` does.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` too.
  func requireUsable(userOfMechanism mechanism: ID<PushAuthMechanismRecord>) throws {
    if let found = try pushAuthMechanism(mechanism) { try requireUsable(owner: found.user) }
  }

  /// Checks the user to whom a push message was sent, as ``requireUsable(userOfMechanism:)`` does.
  func requireUsable(userOfMessage message: ID<PushAuthMessageRecord>) throws {
    if let found = try pushAuthMessage(message) { try requireUsable(userOfMechanism: found.mechanism) }
  }
}
