import SignetSQLite

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func credential(_ id: String) async throws(StorageFailure) -> CredentialRecord? {
    try await reader.read { database in
      try database.query("SELECT * FROM credentials WHERE id = ?", .text(id)).first.map {
        try CredentialRecord($0)
      }
    }
  }

  /// As ``Storage`` says.
  public func tokens(
    after serial: String, user: String?, limit: Int
  ) async throws(StorageFailure) -> [CredentialRecord] {
    try await reader.read { database in
      try database.query(
        "SELECT * FROM credentials WHERE serial > ?1 AND (?2 IS NULL OR user = ?2) ORDER BY serial LIMIT ?3",
        .text(serial), .optional(user), .int(max(0, limit))
      ).map { try CredentialRecord($0) }
    }
  }

  /// As ``Storage`` says.
  public func addTokens(
    _ tokens: [CredentialRecord], audit: @escaping @Sendable (CredentialRecord) -> AuditRecord
  ) async throws(StorageFailure) -> [String] {
    try await writer.write { database in
      var added: [String] = []
      for token in tokens {
        let serial = token.serial ?? ""
        guard try database.query("SELECT 1 FROM credentials WHERE serial = ?", .text(serial)).isEmpty
        else {
          continue
        }
        try database.insert(token)
        try database.appendAudit(audit(token))
        added.append(serial)
      }
      return added
    }
  }

  /// As ``Storage`` says.
  public func assignToken(
    _ serial: String, to user: String?, audit: AuditRecord
  ) async throws(StorageFailure) -> TokenOutcome {
    try await writer.write { database in
      if let user, try database.query("SELECT 1 FROM users WHERE id = ?", .text(user)).isEmpty {
        return .unknownUser
      }
      return try database.changeToken(
        """
        UPDATE credentials SET user = ?, state = iif(state = 'disabled', 'disabled', 'pending'), failures = 0
        WHERE serial = ?
        """,
        [.optional(user), .text(serial)], audit)
    }
  }

  /// As ``Storage`` says.
  public func disableToken(
    _ serial: String, _ isDisabled: Bool, audit: AuditRecord
  ) async throws(StorageFailure) -> TokenOutcome {
    try await writer.write { database in
      try database.changeToken(
        isDisabled
          ? "UPDATE credentials SET state = 'disabled' WHERE serial = ?"
          : "UPDATE credentials SET state = iif(state = 'disabled', 'pending', state) WHERE serial = ?",
        [.text(serial)], audit)
    }
  }

  /// As ``Storage`` says.
  public func removeToken(_ serial: String, audit: AuditRecord) async throws(StorageFailure) -> TokenOutcome {
    try await writer.write { database in
      try database.changeToken(
        "DELETE FROM credentials WHERE serial = ?", [.text(serial)], audit)
    }
  }
}

extension Database {
  func insert(_ credential: CredentialRecord) throws(SQLiteFailure) {
    try execute(
      """
      INSERT INTO credentials (id, user, serial, kind, algorithm, digits, period, start, sealed_secret, silent,
        created, state, last_counter, drift, failures)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      .text(credential.id), .optional(credential.user), .optional(credential.serial),
      .text(credential.kind.rawValue), .text(credential.algorithm), .int(credential.digits),
      .int(credential.period), .integer(credential.start), .blob(credential.sealedSecret),
      .int(credential.isSilent ? 1 : 0), .integer(credential.created), .text(credential.state.rawValue),
      .integer(credential.lastCounter), .integer(credential.drift), .int(credential.failures))
  }

  /// Ends a row of wrong codes, or of wrong answers, which count as these.
  func forgetFailures(of id: String) throws(SQLiteFailure) {
    try execute("UPDATE credentials SET failures = 0 WHERE id = ? AND failures > 0", .text(id))
  }

  /// Forgets what made a container's codes.
  func removeCredential(_ id: String) throws(SQLiteFailure) {
    try execute("DELETE FROM credentials WHERE id = ?", .text(id))
  }

  /// Removes pending containers, with their credentials, by what they are to come from.
  func removePending(_ origin: String, _ id: String) throws(SQLiteFailure) {
    let removed = try query(
      "DELETE FROM containers WHERE \(origin) = ? AND state = 'pending' RETURNING id", .text(id))
    for row in removed { try removeCredential(row.text("id")) }
  }

  fileprivate func changeToken(
    _ sql: String, _ values: [SQLiteValue], _ audit: AuditRecord
  ) throws -> TokenOutcome {
    try execute(sql, values)
    guard changes == 1 else { return .unknownToken }
    try appendAudit(audit)
    return .done
  }
}

extension CredentialRecord {
  init(_ row: Row) throws(SQLiteFailure) {
    guard let kind = Kind(rawValue: try row.text("kind")), let state = State(rawValue: try row.text("state"))
    else {
      throw .unexpectedValue(column: "state", expected: "a known kind and state", found: "another text")
    }
    self.init(
      id: try row.text("id"), user: try row.optionalText("user"), serial: try row.optionalText("serial"),
      kind: kind, algorithm: try row.text("algorithm"), digits: Int(clamping: try row.integer("digits")),
      period: Int(clamping: try row.integer("period")), start: try row.integer("start"),
      sealedSecret: try row.blob("sealed_secret"), isSilent: try row.integer("silent") != 0,
      created: try row.integer("created"), state: state)
    lastCounter = try row.integer("last_counter")
    drift = try row.integer("drift")
    failures = Int(clamping: try row.integer("failures"))
  }
}
