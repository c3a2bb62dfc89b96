import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetProtocol
public import SignetPushAuth
import SignetSystem
public import SignetVault

extension Accounts {
  /// Receives a message from a push service: verifies its signature, then stores it.
  ///
  /// - Parameters:
  ///   - delivery: The delivered message.
  ///   - cleanUp: The rule for the removal of old messages of the mechanism.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The result of the reception.
  /// - Throws: ``SignetError/pushAuth(_:)``: `unknownMechanism`, `token`, `otherUser`, `replayed`; nothing is stored then.
  public func receive(
    _ delivery: PushAuthDelivery, cleanUp: PushAuthCleanUp = .standard, by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> PushAuthInbox.Reception {
    guard let unlocked = try await open(by: password) else { throw .pushAuth(.unknownMechanism) }
    let now = device.clock.now * 1000
    let receptions = try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        try Self.accept([delivery], cleanUp, in: &records, at: now)
      })
    return try receptions[0].get()
  }

  /// Stores a server's pending messages, with the checks of ``receive(_:cleanUp:by:)``, and updates received messages
  /// that ended or are pending again.
  ///
  /// All changes are one transaction, however long the list is.
  ///
  /// The list of ended messages is not signed, but pending messages are. A message in both lists stays pending.
  ///
  /// - Parameters:
  ///   - waiting: The server's answer.
  ///   - mechanism: The mechanism that was queried.
  ///   - unlocked: The accounts.
  /// - Returns: The pending messages that this device has stored, without those it has deleted or rejected; only a stored
  ///   message can be answered.
  /// - Throws: ``SignetError`` of the vault.
  func store(
    _ waiting: PushChannel.Waiting, of mechanism: Account.ID, in unlocked: borrowing UnlockedDomain
  ) async throws(SignetError) -> PushChannel.Waiting {
    guard !waiting.messages.isEmpty || !waiting.ended.isEmpty else { return waiting }
    let now = device.clock.now * 1000
    let receptions = try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        let receptions = try Self.accept(waiting.messages.map(\.delivery), .standard, in: &records, at: now)
        var listed: Set<String> = []
        for (message, reception) in zip(waiting.messages, receptions) {
          if case .success = reception { listed.insert(message.message.messageID) }
        }
        try Self.end(Set(waiting.ended.keys), except: listed, of: mechanism, in: &records, at: now)
        return receptions
      })
    var stored = waiting
    stored.messages = []
    for (message, reception) in zip(waiting.messages, receptions) {
      switch reception {
      case .success(.forgotten): break
      case .success: stored.messages.append(message)
      case .failure(let failure): stored.failure = stored.failure ?? failure
      }
    }
    return stored
  }

  /// Marks all pending messages of a mechanism as ended, because its server does not know the mechanism.
  func endAll(of mechanism: Account.ID, in unlocked: borrowing UnlockedDomain) async throws(SignetError) {
    let now = device.clock.now * 1000
    try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        let waiting = try Self.inbox(of: mechanism, in: records).pending(at: nil)
        try Self.end(Set(waiting.map(\.id)), of: mechanism, in: &records, at: now)
      })
  }

  /// Returns the messages of push mechanisms, newest first.
  ///
  /// - Parameters:
  ///   - mechanism: The mechanism; `nil` for all.
  ///   - isPendingOnly: True for messages that are unanswered and have not expired.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The messages with their mechanisms.
  /// - Throws: ``SignetError``.
  public func messages(
    of mechanism: Account.ID? = nil, pendingOnly isPendingOnly: Bool = false,
    by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> [(mechanism: PushMechanism, notification: PushAuthNotification)] {
    guard let records = try await opened(by: password) else { return [] }
    let now = device.clock.now * 1000
    var found: [(mechanism: PushMechanism, notification: PushAuthNotification)] = []
    for (id, record) in try await vaulted(Self.mechanisms(in: records))
    where mechanism.map({ $0 == id }) ?? true {
      let inbox = try await vaulted(Self.inbox(of: id, in: records))
      let mechanism = try await vaulted(PushMechanism(record, id, in: records))
      for notification in isPendingOnly ? inbox.pending(at: now) : inbox.notifications {
        found.append((mechanism, notification))
      }
    }
    // Messages with the same time of reception are ordered by their position in the inbox, where the newest is last.
    return found.enumerated().sorted {
      ($0.element.notification.received, $0.offset) > ($1.element.notification.received, $1.offset)
    }.map(\.element)
  }

  /// Returns one message.
  ///
  /// - Parameters:
  ///   - id: The message ID.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The message with its mechanism.
  /// - Throws: ``SignetError/pushAuth(_:)`` with `noSuchNotification`.
  public func message(
    _ id: String, by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> (mechanism: PushMechanism, notification: PushAuthNotification) {
    guard let records = try await opened(by: password),
      let found = try await vaulted(Self.received(id, in: records)),
      let notification = found.inbox.notification(id)
    else { throw .pushAuth(.noSuchNotification) }
    return (try await vaulted(PushMechanism(found.record, found.id, in: records)), notification)
  }

  /// Answers a message: sends the answer, and stores it after the server has accepted it.
  ///
  /// If the message demands it, this method itself verifies the user by biometrics or the device passcode before an approval. A
  /// denial needs no verification and also works for locked accounts. A number that the message does not offer is rejected on this
  /// device. After a failure the message stays pending and can be answered again, unless the server reports that it has ended.
  ///
  /// - Parameters:
  ///   - id: The message ID.
  ///   - decision: The answer.
  ///   - passcode: The conversation that asks for the device passcode if biometrics fail; `nil` to allow biometrics only.
  ///   - skew: The seconds after its expiry at which this device rejects a message; `nil` to leave the decision to the server.
  ///   - password: The password of the accounts, if they have one.
  /// - Throws: ``SignetError``: `accountLocked`, `pushAuth`, `wrongNumber`, `pushAuthRefused`, `biometrics`, `transport`.
  public func answer(
    _ id: String, _ decision: PushDecision, passcode: (any PasscodeConversation)? = nil,
    refusingExpiredBy skew: Int64? = nil, by password: SharedSecretBox? = nil
  ) async throws(SignetError) {
    guard let unlocked = try await open(by: password) else { throw .pushAuth(.noSuchNotification) }
    let records = try await vaulted(unlocked.openedRecords())
    guard let found = try await vaulted(Self.received(id, in: records)),
      let notification = found.inbox.notification(id)
    else { throw .pushAuth(.noSuchNotification) }
    let isRecognition = notification.message.kind == .biometric && decision == .approve
    let answer: PushAuthAnswer =
      switch decision {
      case .approve: isRecognition ? .approveRecognised : .approve
      case .number(let typed): .number(typed)
      case .deny: .deny
      }
    let request: PushAuthRequest
    do throws(PushAuthFailure) {
      _ = try found.inbox.answerable(
        id, with: answer, at: device.clock.now * 1000, refusingExpiredBy: skew.map(Self.milliseconds))
      request = try PushAuthRequest.answer(
        answer, to: notification.message, at: found.record.endpoints, key: found.record.key())
    } catch { throw .pushAuth(error) }
    // A denial is sent even if the account is locked, so that a locked-out user can still stop a fraud.
    if decision != .deny { try await requireUnlocked(found.id) }
    if isRecognition {
      try await recogniseUser(passcode)
      // The account may have been locked while the user was being verified.
      try await requireUnlocked(found.id)
    }
    let response = try await response(to: request)
    guard (200..<300).contains(response.status) else {
      let refusal = PushRefusal(response)
      if refusal.isEnd {
        let now = device.clock.now * 1000
        try await vaulted(
          await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
            try Self.end([id], of: found.id, in: &records, at: now)
          })
        throw .pushAuth(.ended)
      }
      guard case .number = decision, let tries = refusal.wrongNumber else { throw refusal.failure }
      guard tries != .none else {
        try await recordAnswer(PushAuthAnswer.deny, of: id, by: found.id, unlocked)
        throw .wrongNumber(Problem(.transactionWrongNumber, "No try is left: the message is denied."))
      }
      throw .wrongNumber(Problem(.transactionWrongNumber, ""))
    }
    try await recordAnswer(answer, of: id, by: found.id, unlocked)
  }

  /// Stores an answer that the server has accepted.
  private func recordAnswer(
    _ answer: PushAuthAnswer, of id: String, by mechanism: Account.ID, _ unlocked: borrowing UnlockedDomain
  ) async throws(SignetError) {
    let now = device.clock.now * 1000
    try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        var inbox = try Self.inbox(of: mechanism, in: records)
        do throws(PushAuthFailure) { try inbox.took(answer.decision, of: id, at: now) } catch {
          // The message was deleted, or another process answered it at the same time; the server's decision is final.
          return
        }
        try records.set(PushMechanismRecord.inboxName(mechanism), to: inbox.json.recordBytes)
      })
  }

  /// Deletes a message; if it is delivered again, it is still rejected.
  ///
  /// - Parameters:
  ///   - id: The message ID.
  ///   - password: The password of the accounts, if they have one.
  /// - Throws: ``SignetError/pushAuth(_:)`` with `noSuchNotification`.
  public func removeMessage(_ id: String, by password: SharedSecretBox? = nil) async throws(SignetError) {
    guard let unlocked = try await open(by: password) else { throw .pushAuth(.noSuchNotification) }
    let existed = try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        for (mechanism, _) in try Self.mechanisms(in: records) {
          var inbox = try Self.inbox(of: mechanism, in: records)
          guard inbox.remove(id) else { continue }
          try records.set(
            PushMechanismRecord.inboxName(mechanism), to: inbox.json.recordBytes)
          return true
        }
        return false
      })
    guard existed else { throw .pushAuth(.noSuchNotification) }
  }

  // MARK: Parts

  /// A mechanism and its inbox during the reception of messages.
  private struct Mailbox {
    let id: Account.ID
    var record: PushMechanismRecord
    var inbox: PushAuthInbox
    var hasNewMessage = false
    var hasNewUser = false
  }

  /// Verifies and stores messages.
  ///
  /// Each inbox is read and written once, because it may have megabytes and the server chooses the number of messages.
  ///
  /// - Returns: The result of each delivery, in order.
  private static func accept(
    _ deliveries: [PushAuthDelivery], _ cleanUp: PushAuthCleanUp, in records: inout OpenRecords, at now: Int64
  ) throws(VaultFailure) -> [Result<PushAuthInbox.Reception, SignetError>] {
    var mailboxes: [Mailbox] = []
    for (id, record) in try mechanisms(in: records) {
      mailboxes.append(Mailbox(id: id, record: record, inbox: try inbox(of: id, in: records)))
    }
    var receptions: [Result<PushAuthInbox.Reception, SignetError>] = []
    for delivery in deliveries {
      do throws(PushAuthFailure) {
        receptions.append(.success(try accept(delivery, cleanUp, into: &mailboxes, at: now)))
      } catch { receptions.append(.failure(.pushAuth(error))) }
    }
    for mailbox in mailboxes where mailbox.hasNewMessage {
      try records.set(PushMechanismRecord.inboxName(mailbox.id), to: mailbox.inbox.json.recordBytes)
      guard mailbox.hasNewUser else { continue }
      try records.set(PushMechanismRecord.name(mailbox.id), to: mailbox.record.bytes)
    }
    return receptions
  }

  private static func accept(
    _ delivery: PushAuthDelivery, _ cleanUp: PushAuthCleanUp, into mailboxes: inout [Mailbox], at now: Int64
  ) throws(PushAuthFailure) -> PushAuthInbox.Reception {
    let found = mailboxes.firstIndex {
      $0.record.mechanismID.hasSameBytes(as: delivery.claimedMechanism)
    }
    guard let found else { throw .unknownMechanism }
    // A message ID must identify one message of one server, because an answer refers to it. Otherwise a server that
    // learned another's ID could exchange the two messages under it, so that the user answers the wrong one.
    for index in mailboxes.indices where index != found {
      guard !mailboxes[index].inbox.remembers(delivery.messageID, at: now) else { throw .replayed }
    }
    let record = mailboxes[found].record
    let message = try delivery.verified(with: record.key())
    if let user = record.userID, let messageUser = message.userID, !user.hasSameBytes(as: messageUser) {
      throw .otherUser
    }
    let reception = try mailboxes[found].inbox.receive(message, at: now, cleanUp: cleanUp)
    guard case .new = reception else { return reception }
    mailboxes[found].hasNewMessage = true
    if record.userID == nil, let user = message.userID {
      mailboxes[found].record.userID = user
      mailboxes[found].hasNewUser = true
    }
    return reception
  }

  /// Marks messages as ended, and others as pending again.
  private static func end(
    _ ids: Set<String>, except waiting: Set<String> = [], of mechanism: Account.ID,
    in records: inout OpenRecords, at now: Int64
  ) throws(VaultFailure) {
    guard !ids.isEmpty || !waiting.isEmpty else { return }
    var inbox = try inbox(of: mechanism, in: records)
    let hasReopened = inbox.reopen(waiting)
    guard inbox.end(ids.subtracting(waiting), at: now) || hasReopened else { return }
    try records.set(PushMechanismRecord.inboxName(mechanism), to: inbox.json.recordBytes)
  }

  /// Finds the mechanism that received a message; a message ID is in one inbox only.
  private static func received(
    _ id: String, in records: OpenRecords
  ) throws(VaultFailure) -> (id: Account.ID, record: PushMechanismRecord, inbox: PushAuthInbox)? {
    for (mechanism, record) in try mechanisms(in: records) {
      let inbox = try inbox(of: mechanism, in: records)
      if inbox.notification(id) != nil { return (mechanism, record, inbox) }
    }
    return nil
  }

  private static func milliseconds(_ seconds: Int64) -> Int64 {
    let (product, overflows) = seconds.multipliedReportingOverflow(by: 1000)
    return overflows ? (seconds < 0 ? .min : .max) : product
  }

  static func inbox(of id: Account.ID, in records: OpenRecords) throws(VaultFailure) -> PushAuthInbox {
    guard let secret = try records.secret(PushMechanismRecord.inboxName(id)) else { return PushAuthInbox() }
    let limits = JSONLimits(maximumByteCount: 64 << 20, maximumMemberCount: 1 << 20)
    do { return try PushAuthInbox(JSONObject(record: secret, limits: limits)) } catch { throw .damaged }
  }

  /// Verifies the user by biometrics, or by the device passcode if they fail.
  private func recogniseUser(_ conversation: (any PasscodeConversation)?) async throws(SignetError) {
    let reason = "approve a sign-in"
    do throws(BiometricFailure) {
      guard let gate = device.biometrics else { throw .notCapable }
      _ = try await gate.match(reason)
    } catch {
      guard let conversation, let passcode = device.passcode else { throw .biometrics(error) }
      do throws(DevicePasscodeFailure) {
        try await passcode.verify(reason, conversation: conversation)
      } catch { throw .passcode(error) }
    }
  }
}
