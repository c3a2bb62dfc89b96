import SignetSQL

extension Storage {
  /// Adds what a device has made and its user has signed; it is accepted from the beginning.
  ///
  /// - Parameters:
  ///   - transaction: What is added, with its decision.
  ///   - isSigned: Whether the container's key signed it: the caller verified, this counts and remembers.
  ///   - limits: Wrong signatures after which nothing is taken.
  ///   - audit: Makes the event.
  /// - Returns: How it ended; `repeated` for the same content by the same container again.
  /// - Throws: ``StorageFailure``.
  public func addInitiated(
    _ transaction: TransactionRecord, isSigned: Bool, limits: TransactionLimits,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> DecisionOutcome {
    guard let container = transaction.decision?.container else { return .unknown }
    return try await write { database in
      let signer = try database.requireActiveUser(ofContainer: container)
      let refusal = try database.countSignature(
        of: signer, isGood: isSigned, limit: limits.wrongSignatures)
      let outcome: DecisionOutcome
      if let refusal {
        outcome = refusal
      } else if signer?.standing == .locked {
        outcome = .containerLocked
      } else if let known = try database.transaction(transaction.id) {
        let isSame =
          known.isInitiatedByDevice && known.decision?.container == container
          && known.content.utf8.elementsEqual(transaction.content.utf8)
        outcome = isSame ? .repeated : .decidedBefore
      } else if let seconds = try database.waitToInitiate(transaction, limits) {
        // No entry: a device could fill the audit log as it could the table.
        return .tooMany(seconds: seconds)
      } else {
        try database.insert(transaction)
        outcome = .decided
      }
      switch outcome {
      case .repeated: break
      case .decided: try database.appendAudit(audit(outcome))
      default: try database.appendRepeatable(audit(outcome), of: .container(container))
      }
      return outcome
    }
  }

  /// A user's transactions that a device has made, oldest first.
  ///
  /// - Parameters:
  ///   - user: Whose.
  ///   - id: Only what came after this one; from the beginning where there is none of this id.
  ///   - limit: At most so many.
  /// - Returns: The transactions.
  /// - Throws: ``StorageFailure``.
  public func initiatedTransactions(
    user: String, after id: String?, limit: Int
  ) async throws(StorageFailure) -> [TransactionRecord] {
    try await read { [codes] database in
      try database.rows(
        """
        SELECT \(TransactionRecord.columns) FROM transactions WHERE initiated = 1 AND user_id = $1
          AND number > coalesce((SELECT number FROM transactions WHERE id = $2), 0)
        ORDER BY number LIMIT $3
        """, [.text(user), .optional(id), .int(max(0, limit))]
      ) { try TransactionRecord($0, codes) }
    }
  }

  /// Ends one check of an answer that was carried from a device: the caller compared, this decides and remembers.
  ///
  /// A wrong answer counts as a refused code of each container of the user, and of the address; one of a container that has refused
  /// as many as may be is not taken, whatever it is. With a revoked key nothing is looked at or written, and within a wait the event
  /// alone is written.
  ///
  /// - Parameters:
  ///   - id: The transaction.
  ///   - attempt: Whose answer it is, and who carries it.
  ///   - attempts: Refused codes in a row after which nothing is taken from a container.
  ///   - waits: What the address has to wait now, in seconds, and from now on if the answer is wrong.
  ///   - audit: Makes the event.
  ///   - judge: Why digits of a container are not enough for a transaction that waits, by both and by the device's last report as they are
  ///     in this step; `nil` where they are. It may be called again where the step has to be repeated.
  /// - Returns: How it ended; `notSigned` for a wrong answer.
  /// - Throws: ``StorageFailure``.
  public func answerTransaction(
    _ id: String, _ attempt: AnswerAttempt, attempts: Int,
    waits: @escaping @Sendable (WaitRecord?) -> (seconds: Int64?, next: WaitRecord),
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord,
    judge:
      @escaping @Sendable (TransactionRecord, ContainerRecord, _ lastReport: Int64?) -> DecisionOutcome? =
      { _, _, _ in nil }
  ) async throws(StorageFailure) -> DecisionOutcome {
    try await write { database in
      guard try database.isKeyGood(attempt.key) else { return .keyRevoked }
      let user = try database.transaction(id)?.user
      if let user { try database.requireActive(owner: user) }
      let code = CodeAttempt(user: user, client: attempt.client)
      let wait = waits(try database.wait(for: code))
      let outcome: DecisionOutcome
      if let seconds = wait.seconds {
        outcome = .waiting(seconds: seconds)
      } else {
        outcome = try database.answer(id, attempt, attempts: attempts, judge)
      }
      if outcome == .notSigned { try database.setWait(wait.next, for: code) }
      if outcome == .decided, let container = attempt.container {
        // As after an accepted code.
        try database.forgetFailures(of: container)
        try database.setWait(nil, for: code)
        if let user = try database.transaction(id)?.user { try database.endRow(of: user) }
      }
      switch outcome {
      case .repeated: break
      // Each wrong answer is counted until nothing is taken any more.
      case .decided, .notSigned: try database.appendAudit(audit(outcome))
      default:
        try database.appendRepeatable(
          audit(outcome), of: user.map { .claimant(user: $0) } ?? .stranger(key: attempt.key))
      }
      return outcome
    }
  }
}

extension SQLConnection {
  /// How long a user has to wait who has signed too many, or too much, unasked within the window; `nil` where there is room.
  fileprivate func waitToInitiate(
    _ transaction: TransactionRecord, _ limits: TransactionLimits
  ) throws -> Int64? {
    let now = transaction.created
    let window = TransactionLimits.initiatedWindow
    // The last ones, however many there are in all.
    let last = try rows(
      "SELECT created, size FROM transactions WHERE initiated = 1 AND user_id = $1 ORDER BY number DESC LIMIT $2",
      [.optional(transaction.user), .int(limits.initiated)]
    ) { (created: try $0.integer(0), size: try $0.integer(1)) }
    let sizes = last.filter { $0.created > now - window }
    let size = transaction.size
    var (count, bytes) = (sizes.count + 1, sizes.reduce(size) { $0 + $1.size })
    var wait: Int64?
    for oldest in sizes.reversed() {
      guard count > limits.initiated || bytes > limits.initiatedByteCount else { break }
      wait = min(max(oldest.created + window - now, 1), window)
      (count, bytes) = (count - 1, bytes - oldest.size)
    }
    return wait
  }

  fileprivate func answer(
    _ id: String, _ attempt: AnswerAttempt, attempts: Int,
    _ judge: (TransactionRecord, ContainerRecord, Int64?) -> DecisionOutcome?
  ) throws -> DecisionOutcome {
    guard let found = try transaction(id), found.isAsked(of: .container), let user = found.user else {
      return .unknown
    }
    // Digits for what has ended decide nothing, so they teach nothing.
    if attempt.container == nil, let end = try refusal(of: found, .accepted, by: nil, at: attempt.time) {
      return end
    }
    guard let container = attempt.container else {
      // Whose answer it should be nobody can tell: it counts for all that could have made one.
      return try countFailure(ofAllContainersOf: user, limit: attempts) ? .notSigned : .locked
    }
    guard let credential = try credential(container), credential.user == user, credential.state == .active,
      credential.serial == nil, credential.failures < attempts
    else { return .locked }
    // Kept where something is required by name, as with a decision that is signed.
    let lastReport = found.requirements.isEmpty ? nil : try self.lastReport(of: container)
    // What has ended is answered by its end.
    if found.state(at: attempt.time) == .pending, let holder = try self.container(container),
      let refusal = judge(found, holder, lastReport)
    {
      return refusal
    }
    return try decide(
      id,
      DecisionRecord(
        state: .accepted, jws: nil, container: container, time: attempt.time, isTyped: attempt.isTyped,
        lastReport: lastReport))
  }
}
