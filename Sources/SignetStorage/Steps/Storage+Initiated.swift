import SignetSQL

extension Storage {
  /// Adds a transaction that a device has initiated and its user has signed; it is accepted from the start.
  ///
  /// - Parameters:
  ///   - transaction: The transaction with its decision.
  ///   - isSigned: True if the container's key signed it. The caller verifies, this step counts and stores.
  ///   - limits: The limits of wrong signatures and of initiated transactions.
  ///   - audit: Makes the event.
  /// - Returns: The outcome; `repeated` if the same container sent the same content before.
  /// - Throws: ``StorageFailure``.
  package func addInitiated(
    _ transaction: TransactionRecord, isSigned: Bool, limits: TransactionLimits,
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> DecisionOutcome {
    guard let container = transaction.decision?.container else { return .unknown }
    return try await write { database in
      let signer = try database.requireUsable(userOfContainer: container)
      let outcome =
        try database.countSignature(of: signer, isValid: isSigned, limit: limits.wrongSignatures)
        ?? signer?.refusalToInitiate
        ?? database.transaction(transaction.id).map { transaction.outcome(after: $0) }
        ?? limits.refusal(of: transaction, after: database.lastInitiated(transaction.user, limits.initiated))
        ?? .decided
      if outcome == .decided { try database.insert(transaction) }
      try database.appendAudit(audit(outcome), as: outcome.entry(of: .container(container)))
      return outcome
    }
  }

  /// Returns a user's transactions that devices have initiated, oldest first.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - id: Returns only transactions that were added after this one; starts at the oldest if the id is unknown.
  ///   - limit: The maximum number of transactions.
  /// - Returns: The transactions.
  /// - Throws: ``StorageFailure``.
  package func initiatedTransactions(
    user: UserID, after id: TransactionID?, limit: Int
  ) async throws(StorageFailure) -> [TransactionRecord] {
    try await read {
      try $0.records(
        """
        WHERE initiated = 1 AND user_id = $1
          AND number > coalesce((SELECT number FROM transactions WHERE id = $2), 0)
        ORDER BY number LIMIT $3
        """, [.of(user), .optional(id), .int(max(0, limit))])
    }
  }

  /// Finishes one check of digits that a user carried from a device: the caller compares them, this step decides and stores.
  ///
  /// A wrong answer counts as a wrong code of each container of the user, and of the address. A container that has reached the limit is
  /// rejected for any answer. If the API key is revoked, nothing is read or written; during a waiting time only the event is written.
  ///
  /// - Parameters:
  ///   - id: The transaction.
  ///   - attempt: The digits' container and their sender.
  ///   - attempts: The number of consecutive wrong codes that locks a container.
  ///   - waits: Returns the present waiting time of the address in seconds, and its waiting time after a wrong answer.
  ///   - audit: Makes the event.
  ///   - check: Returns the reason why digits of this container do not suffice for a pending transaction, given the device's
  ///     last report; `nil` if they do. It may run again if the step is retried.
  /// - Returns: The outcome; `notSigned` for a wrong answer.
  /// - Throws: ``StorageFailure``.
  package func answerTransaction(
    _ id: TransactionID, _ attempt: AnswerAttempt, attempts: Int,
    waits: @escaping @Sendable (WaitRecord?) -> (seconds: Int64?, next: WaitRecord),
    audit: @escaping @Sendable (DecisionOutcome) -> AuditRecord,
    check:
      @escaping @Sendable (TransactionRecord, ContainerRecord, _ lastReport: Int64?) -> DecisionOutcome? =
      { _, _, _ in nil }
  ) async throws(StorageFailure) -> DecisionOutcome {
    try await write { database in
      guard try database.isKeyValid(attempt.key) else { return .keyRevoked }
      let found = try database.transaction(id)
      if let user = found?.user { try database.requireUsable(owner: user) }
      let code = OTPSubject(user: found?.user, client: attempt.client)
      let wait = waits(try database.wait(for: code))
      let ending =
        try wait.seconds.map { TransactionEnding(.waiting(seconds: $0)) }
        ?? database.answer(found, attempt, attempts: attempts, check)
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
  /// Returns the creation times and sizes of the last transactions that a user's devices initiated, newest first.
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
    _ check: (TransactionRecord, ContainerRecord, Int64?) -> DecisionOutcome?
  ) throws -> TransactionEnding {
    guard let found, found.isAsked(of: .container), let user = found.user else {
      return TransactionEnding(.unknown)
    }
    guard let container = attempt.container else {
      // Digits for an ended transaction reveal nothing about their correctness. The container that made a wrong answer is
      // unknown, so it counts for all that could have made it.
      return try found.refusal(.accepted, by: nil, at: attempt.time)
        ?? TransactionEnding(countFailure(ofAllContainersOf: user, limit: attempts) ? .notSigned : .locked)
    }
    guard try credential(ID(of: container))?.acceptsDigits(of: user, attempts: attempts) ?? false else {
      return TransactionEnding(.locked)
    }
    // Stored only if a named requirement applies, as with a signed decision.
    let lastReport = found.requirements.isEmpty ? nil : try self.lastReport(of: container)
    return try found.ending(by: attempt, of: self.container(container), lastReport: lastReport, check)
  }
}
