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
      let signer = try database.requireUsable(userOfContainer: container)
      let outcome =
        try database.countSignature(of: signer, isGood: isSigned, limit: limits.wrongSignatures)
        ?? signer?.refusalToInitiate
        ?? database.transaction(transaction.id).map { transaction.outcome(after: $0) }
        ?? limits.refusal(of: transaction, after: database.lastInitiated(transaction.user, limits.initiated))
        ?? .decided
      if outcome == .decided { try database.insert(transaction) }
      try database.appendAudit(audit(outcome), as: outcome.entry(of: .container(container)))
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
    user: UserID, after id: TransactionID?, limit: Int
  ) async throws(StorageFailure) -> [TransactionRecord] {
    try await read { [mac] database in
      try database.rows(
        """
        SELECT \(TransactionRecord.columns) FROM transactions WHERE initiated = 1 AND user_id = $1
          AND number > coalesce((SELECT number FROM transactions WHERE id = $2), 0)
        ORDER BY number LIMIT $3
        """, [.of(user), .optional(id), .int(max(0, limit))]
      ) { try TransactionRecord($0, mac) }
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
    _ id: TransactionID, _ attempt: AnswerAttempt, attempts: Int,
    waits: @escaping @Sendable (WaitRecord?) -> (seconds: Int64?, next: WaitRecord),
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord,
    judge:
      @escaping @Sendable (TransactionRecord, ContainerRecord, _ lastReport: Int64?) -> DecisionOutcome? =
      { _, _, _ in nil }
  ) async throws(StorageFailure) -> DecisionOutcome {
    try await write { database in
      guard try database.isKeyGood(attempt.key) else { return .keyRevoked }
      let found = try database.transaction(id)
      if let user = found?.user { try database.requireUsable(owner: user) }
      let code = OTPSubject(user: found?.user, client: attempt.client)
      let wait = waits(try database.wait(for: code))
      let ending =
        try wait.seconds.map { TransactionEnding(.waiting(seconds: $0)) }
        ?? database.answer(found, attempt, attempts: attempts, judge)
      try database.apply(ending.change, to: id, at: attempt.time)
      switch ending.outcome.asCode {
      case .accepted:
        if let container = attempt.container { try database.forgetFailures(of: ID(of: container)) }
        try database.setWait(nil, for: code)
      case .refused: try database.setWait(wait.next, for: code)
      default: break
      }
      let requester = found?.user.map { Storage.Requester.claimant(user: $0) } ?? .stranger(key: attempt.key)
      try database.appendAudit(audit(ending.outcome), as: ending.outcome.entry(ofDigitsBy: requester))
      return ending.outcome
    }
  }
}

extension SQLConnection {
  /// When the transactions were made that a user's devices signed unasked last, the newest first, and their sizes.
  fileprivate func lastInitiated(
    _ user: UserID?, _ limit: Int
  ) throws -> [(created: Int64, size: Int64)] {
    try rows(
      "SELECT created, size FROM transactions WHERE initiated = 1 AND user_id = $1 ORDER BY number DESC LIMIT $2",
      [.optional(user), .int(limit)]
    ) { (created: try $0.integer(0), size: try $0.integer(1)) }
  }

  fileprivate func answer(
    _ found: TransactionRecord?, _ attempt: AnswerAttempt, attempts: Int,
    _ judge: (TransactionRecord, ContainerRecord, Int64?) -> DecisionOutcome?
  ) throws -> TransactionEnding {
    guard let found, found.isAsked(of: .container), let user = found.user else {
      return TransactionEnding(.unknown)
    }
    guard let container = attempt.container else {
      // Digits for what has ended decide nothing, so they teach nothing. Whose answer it should be nobody can tell: it counts for all
      // that could have made one.
      return try found.refusal(.accepted, by: nil, at: attempt.time)
        ?? TransactionEnding(countFailure(ofAllContainersOf: user, limit: attempts) ? .notSigned : .locked)
    }
    guard try credential(ID(of: container))?.takesDigits(of: user, attempts: attempts) ?? false else {
      return TransactionEnding(.locked)
    }
    // Kept where something is required by name, as with a decision that is signed.
    let lastReport = found.requirements.isEmpty ? nil : try self.lastReport(of: container)
    return try found.ending(by: attempt, of: self.container(container), lastReport: lastReport, judge)
  }
}
