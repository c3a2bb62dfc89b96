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
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so.
  public func pushAuthMechanism(_ id: String) async throws(StorageFailure) -> PushAuthMechanismRecord? {
    try await read { try $0.pushAuthMechanism(id) }
  }

  /// The active mechanism that an app calls by this name; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so.
  public func pushAuthMechanism(
    named name: String
  ) async throws(StorageFailure) -> PushAuthMechanismRecord? {
    try await read { [codes] database in
      try database.row(
        "SELECT \(PushAuthMechanismRecord.columns) FROM pushauth_mechanisms WHERE mechanism = $1",
        [.text(name)]
      ) { try PushAuthMechanismRecord($0, codes).checked() }
    }
  }

  /// A user's mechanisms, oldest first; those that this server has not written so are ``PushAuthMechanismRecord/State/altered``.
  public func pushAuthMechanisms(
    user: String
  ) async throws(StorageFailure) -> [PushAuthMechanismRecord] {
    try await read { try $0.pushAuthMechanisms(user: user) }
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
      guard var found = try database.pushAuthMechanism(id), found.state == .open, found.expires > time else {
        return false
      }
      (found.mechanism, found.sealedDevice, found.state) = (name, sealedDevice, .active)
      try database.update(found)
      // The app that has answered the challenge of the URI has read the secret of the codes in it.
      if let id = found.credential, var credential = try database.credential(id),
        credential.state == .pending
      {
        credential.state = .active
        try database.update(credential)
      }
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
      guard var found = try database.pushAuthMechanism(id), found.state == .active else { return false }
      let seen = found.seenChanges
      let isSeen = stride(from: 0, to: seen.count, by: digest.count).contains {
        seen[$0...].prefix(digest.count).elementsEqual(digest)
      }
      guard !isSeen else { return false }
      found.sealedDevice = sealedDevice
      found.seenChanges = Array((seen + digest).suffix(64 * digest.count))
      try database.update(found)
      try database.appendRepeatable(audit, of: .app(id))
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
      let user = try database.row("SELECT user_id FROM pushauth_mechanisms WHERE id = $1", [.text(id)]) {
        try $0.text(0)
      }
      guard let user else { return false }
      // Before the change: whoever is told of it is told of the user.
      try database.appendAudit(audit)
      _ = try database.execute("DELETE FROM pushauth_messages WHERE mechanism = $1", [.text(id)])
      _ = try database.execute(
        "DELETE FROM credentials WHERE id = (SELECT credential FROM pushauth_mechanisms WHERE id = $1)",
        [.text(id)])
      try database.execute("DELETE FROM pushauth_mechanisms WHERE id = $1", [.text(id)], changing: 1)
      try database.endUnanswerable(of: user, after: audit, at: audit.time)
      return true
    }
  }

  /// The message of this id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so.
  public func pushAuthMessage(_ id: String) async throws(StorageFailure) -> PushAuthMessageRecord? {
    try await read { try $0.pushAuthMessage(id) }
  }

  /// The messages to a mechanism that were good after a time, the newest first, at most 64.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` where this server has not written one so.
  public func pushAuthMessages(
    of mechanism: String, after time: Int64
  ) async throws(StorageFailure) -> [PushAuthMessageRecord] {
    try await read { [codes] database in
      try database.rows(
        """
        SELECT \(PushAuthMessageRecord.columns) FROM pushauth_messages WHERE mechanism = $1 AND expires > $2
        ORDER BY created DESC, id LIMIT 64
        """, [.text(mechanism), .integer(time)]
      ) { try PushAuthMessageRecord($0, codes) }
    }
  }

  /// Takes the answer to a message, which decides its transaction, once, in time; one that comes too late marks that as expired.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - state: The answer.
  ///   - evidence: What is kept of it with the transaction; `nil` for a no of which nothing can be kept.
  ///   - time: When.
  ///   - audit: The event, written where it is taken.
  ///   - mayApprove: Whether the yes of an app does for what a transaction requires.
  /// - Returns: What became of it.
  /// - Throws: ``StorageFailure``.
  public func answerPushAuthMessage(
    _ id: String, _ state: PushAuthMessageRecord.State, evidence: EvidenceRecord? = nil, at time: Int64,
    audit: AuditRecord, mayApprove: @escaping @Sendable (TransactionRecord) -> Bool
  ) async throws(StorageFailure) -> PushAuthAnswerOutcome {
    try await write { database in
      if state == .approved { try database.requireActiveUser(ofMessage: id) }
      guard var asked = try database.pushAuthMessage(id),
        let found = try database.answerable(asked, at: time)
      else { return .over }
      guard state != .approved || mayApprove(found) else { return .insufficient }
      (asked.state, asked.answered, asked.sealedToken) = (state, time, nil)
      try database.update(asked)
      try database.decide(
        found, by: asked, state == .approved ? .accepted : .denied, evidence: evidence, at: time)
      if state == .approved, let user = found.user { try database.endRow(of: user) }
      try database.appendAudit(audit)
      return .taken
    }
  }

  /// Counts a wrong number; the last one that is allowed denies the message's transaction.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - limit: How many are allowed.
  ///   - evidence: What is kept of the answer with the transaction that it denies; `nil` where nothing can be.
  ///   - time: When.
  ///   - audit: The event, written where it is counted.
  /// - Returns: How many more are allowed; `nil` where the message does not wait.
  /// - Throws: ``StorageFailure``.
  public func countWrongPushAuthNumber(
    _ id: String, limit: Int, evidence: EvidenceRecord? = nil, at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Int? {
    try await write { database in
      guard var asked = try database.pushAuthMessage(id),
        let found = try database.answerable(asked, at: time)
      else { return nil }
      asked.wrongNumbers += 1
      let isLast = asked.wrongNumbers >= limit
      if isLast { (asked.state, asked.answered, asked.sealedToken) = (.denied, time, nil) }
      try database.update(asked)
      if isLast {
        try database.decide(
          found, by: asked, .denied, reason: EndRecord.wrongNumber, evidence: evidence, at: time)
      }
      try database.appendAudit(audit)
      return max(limit - asked.wrongNumbers, 0)
    }
  }
}

extension SQLConnection {
  /// The mechanism of an id, in any state.
  func anyPushAuthMechanism(_ id: String) throws -> PushAuthMechanismRecord? {
    let codes = try rowCodes
    return try row(
      "SELECT \(PushAuthMechanismRecord.columns) FROM pushauth_mechanisms WHERE id = $1", [.text(id)]
    ) { try PushAuthMechanismRecord($0, codes) }
  }

  /// The mechanism of an id.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  func pushAuthMechanism(_ id: String) throws -> PushAuthMechanismRecord? {
    try anyPushAuthMechanism(id)?.checked()
  }

  /// A user's mechanisms, oldest first, in any state.
  func pushAuthMechanisms(user: String) throws -> [PushAuthMechanismRecord] {
    let codes = try rowCodes
    return try rows(
      "SELECT \(PushAuthMechanismRecord.columns) FROM pushauth_mechanisms WHERE user_id = $1 ORDER BY created, id",
      [.text(user)]
    ) { try PushAuthMechanismRecord($0, codes) }
  }

  /// The message of an id.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  func pushAuthMessage(_ id: String) throws -> PushAuthMessageRecord? {
    let codes = try rowCodes
    return try row(
      "SELECT \(PushAuthMessageRecord.columns) FROM pushauth_messages WHERE id = $1", [.text(id)]
    ) { try PushAuthMessageRecord($0, codes) }
  }

  /// Whose app was sent a message.
  func owner(of message: PushAuthMessageRecord) throws -> String {
    guard let found = try pushAuthMechanism(message.mechanism) else { throw StorageFailure.unknown }
    return found.user
  }

  /// Adds a message to an active mechanism, and tells an app that waits.
  func add(_ message: PushAuthMessageRecord) throws {
    try insert(message)
    try noteChange(ofUser: owner(of: message))
  }

  /// Ends the messages of a transaction that wait.
  ///
  /// A row that this server has not written so stays: nobody can answer it, and it must not keep anything else from ending.
  func expirePushAuthMessages(ofTransaction transaction: String) throws {
    let codes = try rowCodes
    let open = try rows(
      "SELECT \(PushAuthMessageRecord.columns) FROM pushauth_messages WHERE state = 'pending' AND txn = $1",
      [.text(transaction)]
    ) { row -> PushAuthMessageRecord? in
      do { return try PushAuthMessageRecord(row, codes) } catch StorageFailure.altered { return nil }
    }
    for case var message? in open {
      (message.state, message.sealedToken) = (.expired, nil)
      try update(message)
    }
  }

  /// The transaction that an app may still decide by the answer to a message; what is found to have expired is written down.
  func answerable(_ message: PushAuthMessageRecord, at time: Int64) throws -> TransactionRecord? {
    guard let found = try transaction(message.transaction), found.isAsked(of: .pushApp),
      try refusal(of: found, .accepted, by: nil, at: time) == nil, message.state == .pending,
      message.expires > time
    else { return nil }
    return found
  }

  /// Decides a transaction by the answer of an app, whose message has been marked as answered.
  ///
  /// - Parameters:
  ///   - found: The transaction, which waits.
  ///   - message: The message that was answered.
  ///   - state: What it comes to.
  ///   - reason: Why it is denied without the user's no; `nil` for the user's answer.
  ///   - evidence: What is kept of the answer.
  ///   - time: When.
  /// - Throws: ``StorageFailure/altered(row:of:)`` where the app is not one of the user's who is asked; ``SQLFailure``.
  func decide(
    _ found: TransactionRecord, by message: PushAuthMessageRecord, _ state: TransactionRecord.State,
    reason: String? = nil,
    evidence: EvidenceRecord?, at time: Int64
  ) throws {
    var decided = found
    guard let user = found.user, try owner(of: message).utf8.elementsEqual(user.utf8) else {
      throw decided.altered
    }
    let answer = AppAnswer(mechanism: message.mechanism, message: message.id, time: time)
    (decided.state, decided.app, decided.evidence) = (state, answer, evidence)
    try execute(
      """
      UPDATE transactions SET state = $1, app = $2, app_message = $3, decided = $4, code = $5,
        end_reason = $6, end_message = $7, evidence = $9, evidence_key = $10
      WHERE id = $8 AND state = 'pending'
      """,
      [
        .text(state.rawValue), .text(answer.mechanism), .text(answer.message), .integer(time),
        .optional(try rowCodes.code(of: decided.image)), .optional(reason),
        .optional(reason.map { _ in "" }), .text(found.id), .optional(evidence?.bytes),
        .optional(evidence?.sealedKey),
      ], changing: 1)
    try noteEnd(of: found.id, user: user, at: time)
  }
}
