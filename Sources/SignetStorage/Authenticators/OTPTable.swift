import SignetSQL

/// The storage of tokens that generate one-time passwords.
///
/// The one-time-password credential of a container, or of an authenticator app, is a row of the same table, but not an
/// authenticator: it is removed with the container or the app.
struct OTPTable: AuthenticatorTable {
  let kind = AuthenticatorRecord.Kind.otp
  let ownerQuery = "SELECT user_id FROM credentials WHERE serial = $1 AND user_id IS NOT NULL"
  // Loads the index by which each code finds its credential, some 20 MiB for a million credentials. Otherwise the first
  // codes after a start would wait for its pages one by one.
  let preparation = [
    "SELECT count(user_id) FROM credentials INDEXED BY credentials_of_user WHERE user_id IS NOT NULL"
  ]

  var tables: [SQLTable] {
    [
      SQLTable(
        "credentials",
        [
          .number("number"), .text("id").unique, .text("user_id").optional.references("users", "id"),
          .text("serial").optional.unique, .text("kind"), .text("algorithm"), .integer("digits"),
          .integer("period"), .integer("start"), .blob("sealed_secret"), .integer("silent"),
          .integer("created"), .text("state"), .integer("last_counter"), .integer("drift"),
          .integer("failures"), .integer("last_used").optional, .blob("code").optional,
        ],
        indexes: [SQLIndex("credentials_of_user", "user_id", where: "user_id IS NOT NULL")])
    ]
  }

  func authenticators(
    of account: AccountSnapshot, in database: SQLConnection
  ) throws -> [AuthenticatorRecord] {
    try database.credentials(of: account.user).compactMap { token in
      guard let serial = token.serial else { return nil }
      let (state, reason) = token.status(attempts: account.codeAttempts)
      return AuthenticatorRecord(
        id: serial, of: .token, name: serial, state: state, reason: reason, created: token.created,
        lastUsed: token.knownUse)
    }
  }

  func forgetFailures(of user: UserID, in database: SQLConnection) throws {
    _ = try database.execute("UPDATE credentials SET failures = 0 WHERE user_id = $1", [.of(user)])
  }

  /// Unassigns the user's tokens, except those whose rows were altered, which are removed.
  func remove(of user: UserRecord, in database: SQLConnection) throws {
    for token in try database.credentials(of: user.id) where token.goesBackToStock {
      try database.assign(token, to: nil)
    }
    _ = try database.execute("DELETE FROM credentials WHERE user_id = $1", [.of(user.id)])
  }
}
