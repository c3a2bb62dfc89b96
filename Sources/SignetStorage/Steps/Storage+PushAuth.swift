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
      try database.requireUsable(user: mechanism.user)
      if let codes { try database.insert(codes) }
      try database.insert(mechanism)
      try database.appendAudit(audit)
    }
  }

  /// The mechanism of this id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so.
  public func pushAuthMechanism(_ id: ID<PushAuthMechanismRecord>) async throws(StorageFailure)
    -> PushAuthMechanismRecord?
  {
    try await read { try $0.pushAuthMechanism(id) }
  }

  /// The active mechanism that an app calls by this name; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so.
  public func pushAuthMechanism(
    named name: String
  ) async throws(StorageFailure) -> PushAuthMechanismRecord? {
    try await read { [mac] database in
      try database.row(
        "SELECT \(PushAuthMechanismRecord.columns) FROM pushauth_mechanisms WHERE mechanism = $1",
        [.text(name)]
      ) { try PushAuthMechanismRecord($0, mac).checked() }
    }
  }

  /// A user's mechanisms, oldest first; those that this server has not written so are ``PushAuthMechanismRecord/State/altered``.
  public func pushAuthMechanisms(
    user: UserID
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
    _ id: ID<PushAuthMechanismRecord>, named name: String, sealedDevice: [UInt8], at time: Int64,
    audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      try database.requireUsable(userOfMechanism: id)
      let found = try database.pushAuthMechanism(id)
      guard let registered = found?.registered(named: name, sealedDevice: sealedDevice, at: time) else {
        return false
      }
      try database.update(registered)
      if let credential = try registered.credential.flatMap({ try database.credential($0)?.registered }) {
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
    _ id: ID<PushAuthMechanismRecord>, sealedDevice: [UInt8], digest: [UInt8], audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      try database.requireUsable(userOfMechanism: id)
      guard let moved = try database.pushAuthMechanism(id)?.moved(to: sealedDevice, by: digest) else {
        return false
      }
      try database.update(moved)
      try database.appendRepeatable(audit, of: .app(id))
      return true
    }
  }

  /// Removes a mechanism with its messages and its one-time codes.
  ///
  /// - Returns: Whether there was one.
  public func removePushAuthMechanism(
    _ id: ID<PushAuthMechanismRecord>, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      let user = try database.row("SELECT user_id FROM pushauth_mechanisms WHERE id = $1", [.of(id)]) {
        try $0.user(0)
      }
      guard let user else { return false }
      // Before the change: whoever is told of it is told of the user.
      try database.appendAudit(audit)
      _ = try database.execute("DELETE FROM pushauth_messages WHERE mechanism = $1", [.of(id)])
      _ = try database.execute(
        "DELETE FROM credentials WHERE id = (SELECT credential FROM pushauth_mechanisms WHERE id = $1)",
        [.of(id)])
      try database.execute("DELETE FROM pushauth_mechanisms WHERE id = $1", [.of(id)], changing: 1)
      // An app that waits for a message hears of it.
      try database.recordChange(ofUser: user)
      try database.endUnanswerable(of: user, after: audit, at: audit.time)
      return true
    }
  }

  /// The message of this id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so.
  public func pushAuthMessage(_ id: ID<PushAuthMessageRecord>) async throws(StorageFailure)
    -> PushAuthMessageRecord?
  {
    try await read { try $0.pushAuthMessage(id) }
  }

  /// The messages to a mechanism that were good after a time, the newest first, at most 64.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` where this server has not written one so.
  public func pushAuthMessages(
    of mechanism: ID<PushAuthMechanismRecord>, after time: Int64
  ) async throws(StorageFailure) -> [PushAuthMessageRecord] {
    try await read { [mac] database in
      try database.rows(
        """
        SELECT \(PushAuthMessageRecord.columns) FROM pushauth_messages WHERE mechanism = $1 AND expires > $2
        ORDER BY created DESC, id LIMIT 64
        """, [.of(mechanism), .integer(time)]
      ) { try PushAuthMessageRecord($0, mac) }
    }
  }

  /// The message to a mechanism that was answered last, of all that are kept; `nil` for none, and for one whose row was altered.
  ///
  /// - Throws: ``StorageFailure``.
  package func lastAnsweredPushAuthMessage(
    of mechanism: ID<PushAuthMechanismRecord>
  ) async throws(StorageFailure) -> PushAuthMessageRecord? {
    try await read { try $0.lastAnsweredPushAuthMessage(of: mechanism) }
  }

  /// Takes the answer to a message, which decides its transaction, once, in time; one that comes too late marks that as expired.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - decision: The answer.
  ///   - evidence: What is kept of it with the transaction; `nil` for a no of which nothing can be kept.
  ///   - time: When.
  ///   - audit: The event, written where it is taken.
  /// - Returns: What became of it.
  /// - Throws: ``StorageFailure``.
  public func answerPushAuthMessage(
    _ id: ID<PushAuthMessageRecord>, _ decision: PushAppDecision, evidence: EvidenceRecord? = nil,
    at time: Int64,
    audit: AuditRecord
  ) async throws(StorageFailure) -> PushAuthAnswerOutcome {
    try await write { database in
      if case .approved = decision { try database.requireUsable(userOfMessage: id) }
      guard let answer = try database.answer(to: id, evidence, at: time) else { return .over }
      return try database.apply(answer.ruling(on: decision), of: answer, audit)
    }
  }
}

extension SQLConnection {
  /// The mechanism of an id, in any state.
  func anyPushAuthMechanism(_ id: ID<PushAuthMechanismRecord>) throws -> PushAuthMechanismRecord? {
    let mac = try rowMAC
    return try row(
      "SELECT \(PushAuthMechanismRecord.columns) FROM pushauth_mechanisms WHERE id = $1", [.of(id)]
    ) { try PushAuthMechanismRecord($0, mac) }
  }

  /// The mechanism of an id.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  func pushAuthMechanism(_ id: ID<PushAuthMechanismRecord>) throws -> PushAuthMechanismRecord? {
    try anyPushAuthMechanism(id)?.checked()
  }

  /// A user's mechanisms, oldest first, in any state.
  func pushAuthMechanisms(user: UserID) throws -> [PushAuthMechanismRecord] {
    let mac = try rowMAC
    return try rows(
      "SELECT \(PushAuthMechanismRecord.columns) FROM pushauth_mechanisms WHERE user_id = $1 ORDER BY created, id",
      [.of(user)]
    ) { try PushAuthMechanismRecord($0, mac) }
  }

  /// The message of an id.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  func pushAuthMessage(_ id: ID<PushAuthMessageRecord>) throws -> PushAuthMessageRecord? {
    let mac = try rowMAC
    return try row(
      "SELECT \(PushAuthMessageRecord.columns) FROM pushauth_messages WHERE id = $1", [.of(id)]
    ) { try PushAuthMessageRecord($0, mac) }
  }

  /// The message to a mechanism that was answered last, of all that are kept; `nil` for none, and for one that this server has not written
  /// so, which says nothing.
  func lastAnsweredPushAuthMessage(of mechanism: ID<PushAuthMechanismRecord>) throws -> PushAuthMessageRecord?
  {
    let mac = try rowMAC
    let found = try row(
      """
      SELECT \(PushAuthMessageRecord.columns) FROM pushauth_messages WHERE mechanism = $1 AND answered IS NOT NULL
      ORDER BY answered DESC, id LIMIT 1
      """, [.of(mechanism)]
    ) { row -> PushAuthMessageRecord? in
      do { return try PushAuthMessageRecord(row, mac) } catch StorageFailure.altered { return nil }
    }
    return found ?? nil
  }

  /// Whose app was sent a message.
  func owner(of message: PushAuthMessageRecord) throws -> UserID {
    guard let found = try pushAuthMechanism(message.mechanism) else { throw StorageFailure.unknown }
    return found.user
  }

  /// Adds a message to an active mechanism, and tells an app that waits.
  func add(_ message: PushAuthMessageRecord) throws {
    try insert(message)
    try recordChange(ofUser: owner(of: message))
  }

  /// Ends the messages of a transaction that wait.
  ///
  /// A row that this server has not written so stays: nobody can answer it, and it must not keep anything else from ending.
  func expirePushAuthMessages(ofTransaction transaction: TransactionID) throws {
    let mac = try rowMAC
    let open = try rows(
      "SELECT \(PushAuthMessageRecord.columns) FROM pushauth_messages WHERE state = 'pending' AND txn = $1",
      [.of(transaction)]
    ) { row -> PushAuthMessageRecord? in
      do { return try PushAuthMessageRecord(row, mac) } catch StorageFailure.altered { return nil }
    }
    for case var message? in open {
      (message.state, message.sealedToken) = (.expired, nil)
      try update(message)
    }
  }

  /// The answer to a message, with the transaction that it asks; `nil` where there is none.
  fileprivate func answer(
    to message: ID<PushAuthMessageRecord>, _ evidence: EvidenceRecord?, at time: Int64
  ) throws -> PushAppAnswer? {
    guard let message = try pushAuthMessage(message), let request = try transaction(message.transaction)
    else { return nil }
    return PushAppAnswer(to: message, asking: request, evidence: evidence, at: time)
  }

  /// Writes down what the answer of an app comes to, with its event where it has changed the message.
  ///
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure/altered(row:of:)`` where the app is not one of the user's who is asked; ``SQLFailure``.
  fileprivate func apply(
    _ ruling: PushAppAnswer.Ruling, of answer: PushAppAnswer, _ audit: AuditRecord
  ) throws -> PushAuthAnswerOutcome {
    if let message = ruling.message { try update(message) }
    if case .ends = ruling.change {
      guard let user = answer.request.user, try owner(of: answer.message) == user
      else { throw answer.request.altered }
    }
    try apply(ruling.change, to: answer.request.id, at: answer.time)
    if ruling.message != nil { try appendAudit(audit) }
    return ruling.outcome
  }
}
