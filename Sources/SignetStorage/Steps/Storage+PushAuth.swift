import SignetSQL

extension Storage {
  /// Adds a mechanism whose URI is handed out, together with the one-time-password token of the same URI: both or neither.
  ///
  /// - Parameters:
  ///   - mechanism: The mechanism.
  ///   - codes: A token whose id is the mechanism's ``PushAuthMechanismRecord/credential``; `nil` for none. It is valid from
  ///     the registration on, and is removed with the mechanism.
  ///   - audit: The event.
  /// - Throws: ``StorageFailure/unknown`` for an unknown user, ``StorageFailure/exists`` for an id or a token serial number
  ///   that exists.
  package func addPushAuthMechanism(
    _ mechanism: PushAuthMechanismRecord, with codes: CredentialRecord?, audit: AuditRecord
  ) async throws(StorageFailure) {
    try await write { database in
      try database.requireUsable(user: mechanism.user)
      if let codes { try database.insert(codes) }
      try database.insert(mechanism)
      try database.appendAudit(audit)
    }
  }

  /// Returns the mechanism with this id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify.
  package func pushAuthMechanism(_ id: ID<PushAuthMechanismRecord>) async throws(StorageFailure)
    -> PushAuthMechanismRecord?
  {
    try await read { try $0.pushAuthMechanism(id) }
  }

  /// Returns the active mechanism with the name that the app uses for it; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify.
  package func pushAuthMechanism(
    named name: String
  ) async throws(StorageFailure) -> PushAuthMechanismRecord? {
    try await read { database in
      let found: PushAuthMechanismRecord? = try database.record("WHERE mechanism = $1", [.text(name)])
      return try found?.checked()
    }
  }

  /// Returns a user's mechanisms, oldest first; one whose row MAC does not verify is ``PushAuthMechanismRecord/State/altered``.
  package func pushAuthMechanisms(
    user: UserID
  ) async throws(StorageFailure) -> [PushAuthMechanismRecord] {
    try await read { try $0.pushAuthMechanisms(user: user) }
  }

  /// Registers an app, once for each mechanism and before the mechanism expires; its one-time passwords are valid from then on.
  ///
  /// - Parameters:
  ///   - id: The mechanism.
  ///   - name: The app's name for the mechanism.
  ///   - sealedDevice: The push address, encrypted.
  ///   - time: The current time, in seconds since 1970.
  ///   - audit: The event, written if the app is registered.
  /// - Returns: `true` if this call registered the app.
  /// - Throws: ``StorageFailure/exists`` if another mechanism has this name.
  package func registerPushAuthMechanism(
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

  /// Changes the push address of an active mechanism, unless the same change was made before.
  ///
  /// - Parameters:
  ///   - id: The mechanism.
  ///   - sealedDevice: The push address, encrypted.
  ///   - digest: Identifies the change, 32 bytes; the last 64 of a mechanism are kept, which prevents a replay.
  ///   - audit: The event, written if the address is changed.
  /// - Returns: `true` if this call changed the address.
  /// - Throws: ``StorageFailure``.
  package func changePushAuthDevice(
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

  /// Removes a mechanism with its messages and its one-time-password token.
  ///
  /// - Returns: `true` if there was such a mechanism.
  package func removePushAuthMechanism(
    _ id: ID<PushAuthMechanismRecord>, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      let user = try database.row("SELECT user_id FROM pushauth_mechanisms WHERE id = $1", [.of(id)]) {
        try $0.user(0)
      }
      guard let user else { return false }
      // The event is written before the change, because its outbox event reads the user of the mechanism.
      try database.appendAudit(audit)
      _ = try database.execute("DELETE FROM pushauth_messages WHERE mechanism = $1", [.of(id)])
      _ = try database.execute(
        "DELETE FROM credentials WHERE id = (SELECT credential FROM pushauth_mechanisms WHERE id = $1)",
        [.of(id)])
      try database.execute("DELETE FROM pushauth_mechanisms WHERE id = $1", [.of(id)], changing: 1)
      // Notifies an app that waits for a message.
      try database.recordChange(ofUser: user)
      try database.endUnanswerable(of: user, after: audit, at: audit.time)
      return true
    }
  }

  /// Returns the message with this id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify.
  package func pushAuthMessage(_ id: ID<PushAuthMessageRecord>) async throws(StorageFailure)
    -> PushAuthMessageRecord?
  {
    try await read { try $0.pushAuthMessage(id) }
  }

  /// Returns the messages to a mechanism that expire after `time`, newest first, at most 64.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` if the MAC of one of the rows does not verify.
  package func pushAuthMessages(
    of mechanism: ID<PushAuthMechanismRecord>, after time: Int64
  ) async throws(StorageFailure) -> [PushAuthMessageRecord] {
    try await read {
      try $0.records(
        "WHERE mechanism = $1 AND expires > $2 ORDER BY created DESC, id LIMIT 64",
        [.of(mechanism), .integer(time)])
    }
  }

  /// Returns the stored message to a mechanism that was answered last; `nil` for none, and if its row's MAC does not verify.
  ///
  /// - Throws: ``StorageFailure``.
  package func lastAnsweredPushAuthMessage(
    of mechanism: ID<PushAuthMechanismRecord>
  ) async throws(StorageFailure) -> PushAuthMessageRecord? {
    try await read { try $0.lastAnsweredPushAuthMessage(of: mechanism) }
  }

  /// Accepts the answer to a message and decides its transaction, once; a late answer marks the message as expired.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - decision: The answer.
  ///   - evidence: The signed answer, which is stored with the transaction; `nil` for a denial without evidence.
  ///   - time: The current time, in seconds since 1970.
  ///   - audit: The event, written if the message changes.
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure``.
  package func answerPushAuthMessage(
    _ id: ID<PushAuthMessageRecord>, _ decision: PushAppDecision, evidence: EvidenceRecord? = nil,
    at time: Int64,
    audit: AuditRecord
  ) async throws(StorageFailure) -> PushAuthAnswerOutcome {
    try await write { database in
      if case .approved = decision { try database.requireUsable(userOfMessage: id) }
      guard let answer = try database.answer(to: id, evidence, at: time) else { return .ended }
      return try database.apply(answer.ruling(on: decision), of: answer, audit)
    }
  }
}

extension SQLConnection {
  /// Returns the mechanism with this id in any state, even if its row's MAC does not verify.
  func anyPushAuthMechanism(_ id: ID<PushAuthMechanismRecord>) throws -> PushAuthMechanismRecord? {
    try record("WHERE id = $1", [.of(id)])
  }

  /// Returns the mechanism with this id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify; ``SQLFailure``.
  func pushAuthMechanism(_ id: ID<PushAuthMechanismRecord>) throws -> PushAuthMechanismRecord? {
    try anyPushAuthMechanism(id)?.checked()
  }

  /// Returns a user's mechanisms in any state, oldest first.
  func pushAuthMechanisms(user: UserID) throws -> [PushAuthMechanismRecord] {
    try records("WHERE user_id = $1 ORDER BY created, id", [.of(user)])
  }

  /// Returns the message with this id; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify; ``SQLFailure``.
  func pushAuthMessage(_ id: ID<PushAuthMessageRecord>) throws -> PushAuthMessageRecord? {
    try record("WHERE id = $1", [.of(id)])
  }

  /// Returns the stored message to a mechanism that was answered last.
  ///
  /// `nil` if there is none, and if the MAC of that row does not verify, because such a row proves nothing.
  func lastAnsweredPushAuthMessage(of mechanism: ID<PushAuthMechanismRecord>) throws -> PushAuthMessageRecord?
  {
    let last: [PushAuthMessageRecord] = try intactRecords(
      "WHERE mechanism = $1 AND answered IS NOT NULL ORDER BY answered DESC, id LIMIT 1", [.of(mechanism)])
    return last.first
  }

  /// Returns the user of the app to which a message was sent.
  func owner(of message: PushAuthMessageRecord) throws -> UserID {
    guard let found = try pushAuthMechanism(message.mechanism) else { throw StorageFailure.unknown }
    return found.user
  }

  /// Adds a message to an active mechanism, and notifies an app that waits.
  func add(_ message: PushAuthMessageRecord) throws {
    try insert(message)
    try recordChange(ofUser: owner(of: message))
  }

  /// Expires the pending messages of a transaction.
  ///
  /// A row whose MAC does not verify is left as it is. The server accepts no answer to it, and it must not prevent the
  /// others from ending.
  func expirePushAuthMessages(ofTransaction transaction: TransactionID) throws {
    let open: [PushAuthMessageRecord] = try intactRecords(
      "WHERE state = 'pending' AND txn = $1", [.of(transaction)])
    for var message in open {
      (message.state, message.sealedToken) = (.expired, nil)
      try update(message)
    }
  }

  /// Returns the answer to a message with the message's transaction; `nil` if either is missing.
  fileprivate func answer(
    to message: ID<PushAuthMessageRecord>, _ evidence: EvidenceRecord?, at time: Int64
  ) throws -> PushAppAnswer? {
    guard let message = try pushAuthMessage(message), let request = try transaction(message.transaction)
    else { return nil }
    return PushAppAnswer(to: message, asking: request, evidence: evidence, at: time)
  }

  /// Writes the effect of an app's answer, and its event if the message changes.
  ///
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure/altered(row:of:)`` if the app does not belong to the transaction's user; ``SQLFailure``.
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
