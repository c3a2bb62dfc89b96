import SignetSQLite

extension SQLiteStorage {
  /// As ``PushAuthStorage`` says.
  public func addPushAuthMechanism(
    _ mechanism: PushAuthMechanismRecord, with codes: CredentialRecord?, audit: AuditRecord
  ) async throws(StorageFailure) {
    try await writer.write { database in
      if let codes { try database.insert(codes) }
      try database.execute(
        """
        INSERT INTO pushauth_mechanisms (id, user, mechanism, sealed_secret, challenge, sealed_device, created, expires,
          state, credential) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, .text(mechanism.id), .text(mechanism.user), .optional(mechanism.mechanism),
        .blob(mechanism.sealedSecret), .blob(mechanism.challenge), .optional(mechanism.sealedDevice),
        .integer(mechanism.created), .integer(mechanism.expires), .text(mechanism.state.rawValue),
        .optional(mechanism.credential))
      try database.appendAudit(audit)
    }
  }

  /// As ``PushAuthStorage`` says.
  public func pushAuthMechanism(_ id: String) async throws(StorageFailure) -> PushAuthMechanismRecord? {
    try await reader.read { database in
      try database.query("SELECT * FROM pushauth_mechanisms WHERE id = ?", .text(id)).first
        .map { try PushAuthMechanismRecord($0) }
    }
  }

  /// As ``PushAuthStorage`` says.
  public func pushAuthMechanism(
    named name: String
  ) async throws(StorageFailure) -> PushAuthMechanismRecord? {
    try await reader.read { database in
      try database.query("SELECT * FROM pushauth_mechanisms WHERE mechanism = ?", .text(name)).first
        .map { try PushAuthMechanismRecord($0) }
    }
  }

  /// As ``PushAuthStorage`` says.
  public func pushAuthMechanisms(
    user: String
  ) async throws(StorageFailure) -> [PushAuthMechanismRecord] {
    try await reader.read { database in
      try database.query(
        "SELECT * FROM pushauth_mechanisms WHERE user = ? ORDER BY created, id", .text(user)
      ).map { try PushAuthMechanismRecord($0) }
    }
  }

  /// As ``PushAuthStorage`` says.
  public func registerPushAuthMechanism(
    _ id: String, named name: String, sealedDevice: [UInt8], at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        """
        UPDATE pushauth_mechanisms SET mechanism = ?, sealed_device = ?, state = 'active'
        WHERE id = ? AND state = 'open' AND expires > ?
        """, .text(name), .blob(sealedDevice), .text(id), .integer(time))
      guard database.changes == 1 else { return false }
      // The app that has answered the challenge of the URI has read the secret of the codes in it.
      try database.execute(
        """
        UPDATE credentials SET state = 'active' WHERE state = 'pending'
          AND id = (SELECT credential FROM pushauth_mechanisms WHERE id = ?)
        """, .text(id))
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``PushAuthStorage`` says.
  public func changePushAuthDevice(
    _ id: String, sealedDevice: [UInt8], digest: [UInt8], audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      guard
        let row = try database.query(
          "SELECT seen_changes FROM pushauth_mechanisms WHERE id = ? AND state = 'active'", .text(id)
        ).first
      else { return false }
      let seen = try row.blob("seen_changes")
      let isSeen = stride(from: 0, to: seen.count, by: digest.count).contains {
        seen[$0...].prefix(digest.count).elementsEqual(digest)
      }
      guard !isSeen else { return false }
      try database.execute(
        "UPDATE pushauth_mechanisms SET sealed_device = ?, seen_changes = ? WHERE id = ?",
        .blob(sealedDevice), .blob(Array((seen + digest).suffix(64 * digest.count))), .text(id))
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``PushAuthStorage`` says.
  public func removePushAuthMechanism(
    _ id: String, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute("DELETE FROM pushauth_messages WHERE mechanism = ?", .text(id))
      try database.execute(
        "DELETE FROM credentials WHERE id = (SELECT credential FROM pushauth_mechanisms WHERE id = ?)",
        .text(id))
      try database.execute("DELETE FROM pushauth_mechanisms WHERE id = ?", .text(id))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``PushAuthStorage`` says.
  public func addPushAuthMessage(
    _ message: PushAuthMessageRecord, limit: Int, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let isAdded: Bool? = try await writer.write { database in
      let active = try database.query(
        "SELECT id FROM pushauth_mechanisms WHERE id = ? AND state = 'active'", .text(message.mechanism))
      guard !active.isEmpty else { return nil }
      let waiting = try database.query(
        "SELECT id FROM pushauth_messages WHERE mechanism = ? AND state = 'pending' AND expires > ? LIMIT ?",
        .text(message.mechanism), .integer(message.created), .int(limit))
      guard waiting.count < limit else { return false }
      try database.execute(
        """
        INSERT INTO pushauth_messages (id, mechanism, kind, challenge, sealed_number, created, expires, state)
        VALUES (?, ?, ?, ?, ?, ?, ?, 'pending')
        """, .text(message.id), .text(message.mechanism), .text(message.kind), .blob(message.challenge),
        .optional(message.sealedNumber), .integer(message.created), .integer(message.expires))
      try database.appendAudit(audit)
      return true
    }
    guard let isAdded else { throw .unknown }
    return isAdded
  }

  /// As ``PushAuthStorage`` says.
  public func pushAuthMessage(_ id: String) async throws(StorageFailure) -> PushAuthMessageRecord? {
    try await reader.read { database in
      try database.query("SELECT * FROM pushauth_messages WHERE id = ?", .text(id)).first
        .map { try PushAuthMessageRecord($0) }
    }
  }

  /// As ``PushAuthStorage`` says.
  public func expirePushAuthMessage(_ id: String, at time: Int64) async throws(StorageFailure) {
    try await writer.write { try $0.expirePushAuthMessage(id, at: time) }
  }

  /// As ``PushAuthStorage`` says.
  public func answerPushAuthMessage(
    _ id: String, _ state: PushAuthMessageRecord.State, at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.expirePushAuthMessage(id, at: time)
      try database.execute(
        """
        UPDATE pushauth_messages SET state = ?, answered = ? WHERE id = ? AND state = 'pending' AND expires > ?
        """, .text(state.rawValue), .integer(time), .text(id), .integer(time))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``PushAuthStorage`` says.
  public func countWrongPushAuthNumber(
    _ id: String, limit: Int, at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Int? {
    try await writer.write { database in
      try database.expirePushAuthMessage(id, at: time)
      try database.execute(
        """
        UPDATE pushauth_messages SET wrong_numbers = wrong_numbers + 1,
          state = iif(wrong_numbers + 1 >= ?1, 'denied', state), answered = iif(wrong_numbers + 1 >= ?1, ?2, answered)
        WHERE id = ?3 AND state = 'pending' AND expires > ?2
        """, .int(limit), .integer(time), .text(id))
      guard database.changes == 1,
        let row = try database.query("SELECT wrong_numbers FROM pushauth_messages WHERE id = ?", .text(id))
          .first
      else { return nil }
      try database.appendAudit(audit)
      return max(limit - Int(clamping: try row.integer("wrong_numbers")), 0)
    }
  }
}

extension Database {
  /// Marks a message whose time is over, before anybody is told: a clock that is set back does not open it again.
  fileprivate func expirePushAuthMessage(_ id: String, at time: Int64) throws(SQLiteFailure) {
    try execute(
      "UPDATE pushauth_messages SET state = 'expired' WHERE id = ? AND state = 'pending' AND expires <= ?",
      .text(id), .integer(time))
  }
}

extension PushAuthMechanismRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    guard let state = State(rawValue: try row.text("state")) else {
      throw .unexpectedValue(column: "state", expected: "a known state", found: "another text")
    }
    self.init(
      id: try row.text("id"), user: try row.text("user"), mechanism: try row.optionalText("mechanism"),
      sealedSecret: try row.blob("sealed_secret"), challenge: try row.blob("challenge"),
      sealedDevice: try row.optionalBlob("sealed_device"), created: try row.integer("created"),
      expires: try row.integer("expires"), state: state,
      credential: try row.optionalText("credential"))
  }
}

extension PushAuthMessageRecord {
  fileprivate init(_ row: Row) throws(SQLiteFailure) {
    guard let state = State(rawValue: try row.text("state")) else {
      throw .unexpectedValue(column: "state", expected: "a known state", found: "another text")
    }
    self.init(
      id: try row.text("id"), mechanism: try row.text("mechanism"), kind: try row.text("kind"),
      challenge: try row.blob("challenge"), sealedNumber: try row.optionalBlob("sealed_number"),
      created: try row.integer("created"), expires: try row.integer("expires"), state: state,
      wrongNumbers: Int(clamping: try row.integer("wrong_numbers")),
      answered: try row.optionalInteger("answered"))
  }
}
