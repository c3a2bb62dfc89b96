import SignetSQL

extension Storage {
  /// Whether what a transaction was accepted with is in use: its container or another of the device, its UAF keys, or its app.
  ///
  /// - Throws: ``StorageFailure``.
  public func isProofInUse(of transaction: String) async throws(StorageFailure) -> Bool {
    try await read { [codes] database in
      guard let found = try database.transaction(transaction) else { return false }
      return try database.isProofInUse(found, codes)
    }
  }
}

// What waits for authenticators that have no list of what waits.
extension SQLConnection {
  /// Whether anything of the user's could ever answer a transaction; one that nobody is named for may be anybody's.
  ///
  /// Being offline is no reason: a device answers by digits, and a target may be reached later. Being locked is one: nothing is
  /// accepted of the device until somebody unlocks it.
  func canAnswer(_ transaction: TransactionRecord, _ ways: AnswerWays) throws -> Bool {
    // Of an unknown user the insertion says that there is none.
    guard let user = transaction.user, try anyUser(user) != nil else { return true }
    let (rules, codes) = (try answerRules, try rowCodes)
    let isAsked = try containers(of: user, "state = 'active'").contains { container in
      container.state == .active && (container.standing != .locked || !transaction.offersApproval)
        && rules.container(transaction, container)
    }
    if try isAsked || ways.mechanisms.contains(where: { try isActive($0, of: user) }) { return true }
    guard ways.isAskers || !ways.targets.isEmpty else { return false }
    let keys = try uafCredentials(of: user, codes).filter { key in
      try key.state == .active && !isLocked(key.device, of: user, codes)
    }
    if ways.isAskers, keys.contains(where: { rules.key(transaction, $0, .byAsker) }) { return true }
    let able = keys.filter { rules.key(transaction, $0, .byServer) }
    return try ways.targets.contains { target in
      guard let found = try reachableTarget(target, of: user, codes) else { return false }
      // One that does not say where it is may be on any device.
      return able.contains { key in
        guard let own = key.device, let device = found.device else { return true }
        return own.utf8.elementsEqual(device.utf8)
      }
    }
  }

  /// Ends what waits for a user, and nothing of the user's could answer any more, in the step that took the last away, or locked it.
  ///
  /// A row that this server has not written so stays: nobody can answer it, and it must not keep anything from being locked.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - cause: The event of what was done.
  ///   - time: When.
  /// - Throws: ``SQLFailure``.
  func endUnanswerable(of user: String, after cause: AuditRecord, at time: Int64) throws {
    let codes = try rowCodes
    let waiting = try rows(
      "SELECT \(TransactionRecord.columns) FROM transactions WHERE user_id = $1 AND state = 'pending' ORDER BY number",
      [.text(user)]
    ) { row -> TransactionRecord? in
      do { return try TransactionRecord(row, codes) } catch StorageFailure.altered { return nil }
    }
    let rules = try answerRules
    for case let request? in waiting where try !canAnswer(request, AnswerWays(of: request, self)) {
      try withdraw(where: "id", request.id, because: EndRecord.noAuthenticator, at: time) {
        rules.ended($0, cause)
      }
    }
  }

  /// Adds the operations and messages whose targets and apps are still there, and on no locked device.
  func insert(_ asking: TransactionAsking) throws {
    let codes = try rowCodes
    for (session, audit) in asking.sessions {
      guard let user = session.user, try reachableTarget(session.target, of: user, codes) != nil else {
        continue
      }
      try add(session, codes)
      try appendAudit(audit)
    }
    for (message, audit) in asking.messages {
      guard try anyPushAuthMechanism(message.mechanism)?.state == .active else { continue }
      try add(message)
      try appendAudit(audit)
    }
  }

  private func isActive(_ mechanism: String, of user: String) throws -> Bool {
    guard let found = try anyPushAuthMechanism(mechanism) else { return false }
    return found.state == .active && found.user.utf8.elementsEqual(user.utf8)
  }

  // One look at all that a request may have beside the list of its user's containers: most have nothing.
  private static let besideTheList = """
    SELECT (SELECT count(*) FROM pushauth_messages WHERE txn = $1 AND state = 'pending'),
      (SELECT count(*) FROM uaf_sessions WHERE txn = $1 AND state IN ('requested', 'tokenCreated')),
      (SELECT client FROM backchannel_requests WHERE txn = $1 AND delivery <> 'poll')
    """

  /// Ends the operations and messages of a transaction that has ended; what they were answered with by then stays.
  ///
  /// - Returns: The client that is told how it ended; `nil` where nobody is.
  /// - Throws: ``SQLFailure``.
  func endAsking(of transaction: String, at time: Int64) throws -> String? {
    let found = try row(Self.besideTheList, [.text(transaction)]) {
      (messages: try $0.integer(0), sessions: try $0.integer(1), client: try $0.optional(2, $0.text))
    }
    guard let found else { return nil }
    if found.messages > 0 { try expirePushAuthMessages(where: "txn = $1", [.text(transaction)]) }
    if found.sessions > 0 { try failUAFSessions(ofTransaction: transaction, at: time, rowCodes) }
    return found.client
  }

  /// The transaction that an app may still decide; what is found to have expired is written down.
  func answerable(_ transaction: String, at time: Int64) throws -> TransactionRecord? {
    guard let found = try self.transaction(transaction),
      try refusal(of: found, .accepted, by: nil, at: time) == nil
    else { return nil }
    return found
  }

  /// Decides a transaction by the answer of an app, whose message has been marked as answered.
  ///
  /// - Parameters:
  ///   - id: The transaction, which waits.
  ///   - message: The message that was answered.
  ///   - state: What it comes to.
  ///   - reason: Why it is denied without the user's no; `nil` for the user's answer.
  ///   - evidence: What is kept of the answer.
  ///   - time: When.
  /// - Throws: ``StorageFailure/altered(row:of:)`` where the app is not one of the user's who is asked; ``SQLFailure``.
  func decide(
    _ id: String, by message: PushAuthMessageRecord, _ state: TransactionRecord.State, reason: String? = nil,
    evidence: EvidenceRecord?, at time: Int64
  ) throws {
    guard var decided = try transaction(id) else { throw StorageFailure.unknown }
    guard let user = decided.user, try owner(of: message).utf8.elementsEqual(user.utf8) else {
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
        .optional(reason.map { _ in "" }), .text(id), .optional(evidence?.bytes),
        .optional(evidence?.sealedKey),
      ], changing: 1)
    try noteEnd(of: id, user: user, at: time)
  }

  /// Whether what a transaction was accepted with is in use, on a device that is not locked.
  func isProofInUse(_ transaction: TransactionRecord, _ codes: RowCodes) throws -> Bool {
    guard transaction.state == .accepted, let user = transaction.user else { return false }
    if let acceptance = transaction.uaf {
      guard let session = try uafSession(acceptance.session, codes) else { return false }
      return try areKeysInUse(of: session, by: user, codes)
    }
    if let answer = transaction.app { return try isActive(answer.mechanism, of: user) }
    guard let decision = transaction.decision else { return false }
    guard let decidedBy = try container(decision.container) else { return false }
    return try containers(of: decidedBy.user, "state = 'active'").contains {
      $0.device == decidedBy.device && $0.state == .active && $0.standing != .locked
    }
  }
}

/// The ways by which authenticators without a list of what waits hear of a request.
struct AnswerWays {
  /// Targets of UAF operations.
  var targets: [String]
  /// Mechanisms of apps.
  var mechanisms: [String]
  /// Whether who asks may have any UAF key answer by an operation of its own.
  var isAskers: Bool

  /// The ways of a request that is about to be stored.
  init(_ asking: TransactionAsking) {
    targets = asking.sessions.compactMap { $0.record.target }
    mechanisms = asking.messages.map { $0.record.mechanism }
    isAskers = asking.mayAskUAFKeys
  }

  /// The ways of a request that waits: what was sent and is not answered.
  ///
  /// A client of OpenID Connect makes no operations of its own.
  init(of request: TransactionRecord, _ database: SQLConnection) throws {
    let id: [SQLValue] = [.text(request.id)]
    targets = try database.rows(
      """
      SELECT target FROM uaf_sessions
      WHERE txn = $1 AND state IN ('requested', 'tokenCreated') AND target IS NOT NULL
      """, id
    ) { try $0.text(0) }
    mechanisms = try database.rows(
      "SELECT mechanism FROM pushauth_messages WHERE txn = $1 AND state = 'pending'", id
    ) { try $0.text(0) }
    isAskers = try !database.exists("SELECT 1 FROM backchannel_requests WHERE txn = $1", id)
  }
}
