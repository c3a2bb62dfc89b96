import SignetSQL

extension Storage {
  /// Adds a mechanism whose URI is handed out, and the one-time codes that are in the same URI: both or neither.
  ///
  /// - Parameters:
  ///   - mechanism: The mechanism.
  ///   - codes: A token, whose id is the mechanism's ``PushAuthMechanismRecord/credential``; `nil` for none. It counts from the
  ///     registration on, and goes with the mechanism.
  ///   - audit: The event.
  /// - Throws: ``StorageFailure/unknown`` when there is no such user, ``StorageFailure/exists`` when there is one of this id, or a
  ///   token of this serial number.
  public func addPushAuthMechanism(
    _ mechanism: PushAuthMechanismRecord, with codes: CredentialRecord?, audit: AuditRecord
  ) async throws(StorageFailure) {
    try await write { database in
      try database.requireActive(mechanism.user)
      if let codes { try database.insert(codes) }
      try database.insert(mechanism)
      try database.appendAudit(audit)
    }
  }

  /// The mechanism of this id; `nil` for none.
  public func pushAuthMechanism(_ id: String) async throws(StorageFailure) -> PushAuthMechanismRecord? {
    try await read { database in
      try database.row(
        "SELECT \(PushAuthMechanismRecord.columns) FROM pushauth_mechanisms WHERE id = $1", [.text(id)]
      ) { try PushAuthMechanismRecord($0) }
    }
  }

  /// The active mechanism that an app calls by this name; `nil` for none.
  public func pushAuthMechanism(
    named name: String
  ) async throws(StorageFailure) -> PushAuthMechanismRecord? {
    try await read { database in
      try database.row(
        "SELECT \(PushAuthMechanismRecord.columns) FROM pushauth_mechanisms WHERE mechanism = $1",
        [.text(name)]
      ) { try PushAuthMechanismRecord($0) }
    }
  }

  /// A user's mechanisms, oldest first.
  public func pushAuthMechanisms(
    user: String
  ) async throws(StorageFailure) -> [PushAuthMechanismRecord] {
    try await read { database in
      try database.rows(
        "SELECT \(PushAuthMechanismRecord.columns) FROM pushauth_mechanisms WHERE user_id = $1 ORDER BY created, id",
        [.text(user)]
      ) { try PushAuthMechanismRecord($0) }
    }
  }

  /// Registers an app, which happens once for each mechanism, in time; its one-time codes count from now on.
  ///
  /// - Parameters:
  ///   - id: The mechanism.
  ///   - name: What the app calls it.
  ///   - sealedDevice: Where its pushes go, encrypted.
  ///   - time: When.
  ///   - audit: The event, written where it is registered.
  /// - Returns: Whether this call registered it.
  /// - Throws: ``StorageFailure/exists`` when another mechanism has this name.
  public func registerPushAuthMechanism(
    _ id: String, named name: String, sealedDevice: [UInt8], at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      try database.requireActiveUser(ofMechanism: id)
      guard
        try database.execute(
          """
          UPDATE pushauth_mechanisms SET mechanism = $1, sealed_device = $2, state = 'active'
          WHERE id = $3 AND state = 'open' AND expires > $4
          """, [.text(name), .blob(sealedDevice), .text(id), .integer(time)]) == 1
      else { return false }
      // The app that has answered the challenge of the URI has read the secret of the codes in it.
      _ = try database.execute(
        """
        UPDATE credentials SET state = 'active' WHERE state = 'pending'
          AND id = (SELECT credential FROM pushauth_mechanisms WHERE id = $1)
        """, [.text(id)])
      try database.appendAudit(audit)
      return true
    }
  }

  /// Changes where the pushes of an active mechanism go, unless by a change that was taken before.
  ///
  /// - Parameters:
  ///   - id: The mechanism.
  ///   - sealedDevice: Where its pushes go, encrypted.
  ///   - digest: Names the change, 32 bytes; the last 64 of a mechanism are remembered.
  ///   - audit: The event, written where it is changed.
  /// - Returns: Whether this call changed it.
  /// - Throws: ``StorageFailure``.
  public func changePushAuthDevice(
    _ id: String, sealedDevice: [UInt8], digest: [UInt8], audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      try database.requireActiveUser(ofMechanism: id)
      guard
        let seen = try database.row(
          "SELECT seen_changes FROM pushauth_mechanisms WHERE id = $1 AND state = 'active'", [.text(id)],
          { try $0.blob(0) })
      else { return false }
      let isSeen = stride(from: 0, to: seen.count, by: digest.count).contains {
        seen[$0...].prefix(digest.count).elementsEqual(digest)
      }
      guard !isSeen else { return false }
      _ = try database.execute(
        "UPDATE pushauth_mechanisms SET sealed_device = $1, seen_changes = $2 WHERE id = $3",
        [.blob(sealedDevice), .blob(Array((seen + digest).suffix(64 * digest.count))), .text(id)])
      try database.appendAudit(audit)
      return true
    }
  }

  /// Removes a mechanism with its messages and its one-time codes.
  ///
  /// - Returns: Whether there was one.
  public func removePushAuthMechanism(
    _ id: String, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard try database.exists("SELECT 1 FROM pushauth_mechanisms WHERE id = $1", [.text(id)]) else {
        return false
      }
      // Before the change: whoever is told of it is told of the user.
      try database.appendAudit(audit)
      _ = try database.execute("DELETE FROM pushauth_messages WHERE mechanism = $1", [.text(id)])
      _ = try database.execute(
        "DELETE FROM credentials WHERE id = (SELECT credential FROM pushauth_mechanisms WHERE id = $1)",
        [.text(id)])
      try database.execute("DELETE FROM pushauth_mechanisms WHERE id = $1", [.text(id)], changing: 1)
      return true
    }
  }

  /// Adds a message to an active mechanism, unless its user is asked too often, by whatever kind of request.
  ///
  /// - Parameters:
  ///   - message: What is added.
  ///   - limits: How often a user may be asked.
  ///   - audit: Makes the event.
  /// - Returns: Whether it was added.
  /// - Throws: ``StorageFailure/unknown`` where the mechanism is not active.
  public func addPushAuthMessage(
    _ message: PushAuthMessageRecord, limits: TransactionLimits,
    audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> AdmissionOutcome {
    try await write { database in
      let owner = try database.row(
        "SELECT user_id FROM pushauth_mechanisms WHERE id = $1 AND state = 'active'",
        [.text(message.mechanism)], { try $0.text(0) })
      guard let owner else { throw StorageFailure.unknown }
      try database.requireActive(owner)
      let outcome = try database.admitRequest(to: owner, at: message.created, limits)
      if outcome == .added { try database.add(message) }
      try database.appendAudit(audit(outcome))
      return outcome
    }
  }

  /// The message of this id; `nil` for none.
  public func pushAuthMessage(_ id: String) async throws(StorageFailure) -> PushAuthMessageRecord? {
    try await read { try $0.pushAuthMessage(id) }
  }

  /// The messages to a mechanism that were good after a time, the newest first, at most 64.
  ///
  /// - Throws: ``StorageFailure``.
  public func pushAuthMessages(
    of mechanism: String, after time: Int64
  ) async throws(StorageFailure) -> [PushAuthMessageRecord] {
    try await read { database in
      try database.rows(
        """
        SELECT \(PushAuthMessageRecord.columns) FROM pushauth_messages WHERE mechanism = $1 AND expires > $2
        ORDER BY created DESC, id LIMIT 64
        """, [.text(mechanism), .integer(time)]
      ) { try PushAuthMessageRecord($0) }
    }
  }

  /// Marks a message that waits, and whose time is over; does nothing to others.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - time: When.
  /// - Throws: ``StorageFailure``.
  public func expirePushAuthMessage(_ id: String, at time: Int64) async throws(StorageFailure) {
    try await write { try $0.expirePushAuthMessage(id, at: time) }
  }

  /// Takes an answer, which happens once, in time; one that comes too late marks the message as expired.
  ///
  /// The answer to a message that was made for a transaction decides that, and ends it for all other authenticators.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - state: The answer.
  ///   - time: When.
  ///   - audit: The event, written where it is taken.
  /// - Returns: Whether this call answered it.
  /// - Throws: ``StorageFailure``.
  public func answerPushAuthMessage(
    _ id: String, _ state: PushAuthMessageRecord.State, at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      try database.requireActiveUser(ofMessage: id)
      try database.expirePushAuthMessage(id, at: time)
      let asked = try database.pushAuthMessage(id)
      if let transaction = asked?.transaction {
        guard try database.mayAnswer(transaction, at: time) else { return false }
      }
      guard
        try database.execute(
          """
          UPDATE pushauth_messages SET state = $1, answered = $2, sealed_token = NULL
          WHERE id = $3 AND state = 'pending' AND expires > $4
          """, [.text(state.rawValue), .integer(time), .text(id), .integer(time)]) == 1
      else { return false }
      if let asked { try database.noteChange(ofMechanism: asked.mechanism) }
      if state == .approved {
        let owner = try database.row(
          """
          SELECT user_id FROM pushauth_mechanisms
          WHERE id = (SELECT mechanism FROM pushauth_messages WHERE id = $1)
          """, [.text(id)], { try $0.text(0) })
        if let owner { try database.endRow(of: owner) }
      }
      if let asked, let transaction = asked.transaction {
        try database.decide(
          transaction, by: asked, state == .approved ? .accepted : .denied, at: time)
      }
      try database.appendAudit(audit)
      return true
    }
  }

  /// Counts a wrong number; the last one that is allowed ends the message with a no, and denies its transaction where it has one.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - limit: How many are allowed.
  ///   - time: When.
  ///   - audit: The event, written where it is counted.
  /// - Returns: How many more are allowed; `nil` where the message does not wait.
  /// - Throws: ``StorageFailure``.
  public func countWrongPushAuthNumber(
    _ id: String, limit: Int, at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Int? {
    try await write { database in
      try database.requireActiveUser(ofMessage: id)
      try database.expirePushAuthMessage(id, at: time)
      let asked = try database.pushAuthMessage(id)
      if let transaction = asked?.transaction {
        guard try database.mayAnswer(transaction, at: time) else { return nil }
      }
      guard
        try database.execute(
          """
          UPDATE pushauth_messages SET wrong_numbers = wrong_numbers + 1,
            state = CASE WHEN wrong_numbers + 1 >= $1 THEN 'denied' ELSE state END,
            answered = CASE WHEN wrong_numbers + 1 >= $1 THEN $2 ELSE answered END,
            sealed_token = CASE WHEN wrong_numbers + 1 >= $1 THEN NULL ELSE sealed_token END
          WHERE id = $3 AND state = 'pending' AND expires > $2
          """, [.int(limit), .integer(time), .text(id)]) == 1,
        let count = try database.number(
          "SELECT wrong_numbers FROM pushauth_messages WHERE id = $1", [.text(id)])
      else { return nil }
      if let asked { try database.noteChange(ofMechanism: asked.mechanism) }
      if let asked, let transaction = asked.transaction, count >= Int64(limit) {
        try database.decide(transaction, by: asked, .denied, reason: "wrongNumber", at: time)
      }
      try database.appendAudit(audit)
      return max(limit - Int(clamping: count), 0)
    }
  }
}

extension SQLConnection {
  fileprivate func pushAuthMessage(_ id: String) throws -> PushAuthMessageRecord? {
    try row("SELECT \(PushAuthMessageRecord.columns) FROM pushauth_messages WHERE id = $1", [.text(id)]) {
      try PushAuthMessageRecord($0)
    }
  }

  /// Adds a message to an active mechanism.
  func add(_ message: PushAuthMessageRecord) throws {
    try insert(message)
    try noteChange(ofMechanism: message.mechanism)
  }

  /// Tells an app that waits that other messages wait for it.
  fileprivate func noteChange(ofMechanism id: String) throws {
    let user = try row("SELECT user_id FROM pushauth_mechanisms WHERE id = $1", [.text(id)]) {
      try $0.text(0)
    }
    if let user { try noteChange(ofUser: user) }
  }

  /// Marks a message whose time is over, before anybody is told: a clock that is set back does not open it again.
  fileprivate func expirePushAuthMessage(_ id: String, at time: Int64) throws {
    _ = try execute(
      """
      UPDATE pushauth_messages SET state = 'expired', sealed_token = NULL
      WHERE id = $1 AND state = 'pending' AND expires <= $2
      """,
      [.text(id), .integer(time)])
  }
}
