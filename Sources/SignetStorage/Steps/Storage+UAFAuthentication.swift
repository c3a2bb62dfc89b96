import SignetSQL

extension Storage {
  /// Ends an authentication with verified signatures: checks and stores the counters, and accepts the transaction.
  ///
  /// An operation accepts one response, before it expires. A counter has to be greater than the stored one, or both have to be 0; otherwise
  /// the key is quarantined and the operation fails.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - user: The owner of the keys.
  ///   - end: The status and the time of a success.
  ///   - uses: The keys with their counters.
  ///   - evidence: The part of the response that is kept with the transaction; `nil` without a transaction.
  ///   - audit: Makes the event.
  ///   - judge: Checks the keys, all active and the user's, and the pending transaction of the operation within the step: the reason to
  ///     refuse the response, `nil` to accept it. It may be called again where the step is repeated.
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure``.
  public func finishUAFAuthentication(
    _ id: String, of user: String, _ end: UAFSessionEnd, uses: [UAFKeyUse], evidence: EvidenceRecord? = nil,
    audit: @escaping @Sendable (UAFOutcome) -> AuditRecord,
    judge: @escaping @Sendable ([UAFCredentialRecord], TransactionRecord?) -> UAFOutcome? = { _, _ in nil }
  ) async throws(StorageFailure) -> UAFOutcome {
    let codes = codes
    return try await write { database in
      try database.requireActive(known: user)
      var device: String?
      for use in uses {
        // finishAuthentication refuses a key that is unknown, of another user, or in a row with a wrong MAC.
        guard let key = try database.uafCredential(use.aaid, use.keyID, codes), key.user == user,
          key.state != .altered
        else { continue }
        try database.requireUnlocked(key.device, of: user, codes)
        device = try device ?? database.deviceID(of: key)
      }
      let outcome = try database.finishAuthentication(id, user, end, uses, evidence, codes, judge)
      let event = audit(outcome)
      try database.appendAudit(event, on: device)
      switch outcome {
      // Nothing has changed: what ended before has ended what it was the last way to answer.
      case .taken, .over, .transactionOver: break
      // A cloned key is quarantined, and the operation may have been the last way to answer its transaction.
      default: try database.endUnanswerable(of: user, after: event, at: end.time)
      }
      return outcome
    }
  }
}

extension SQLConnection {
  fileprivate func finishAuthentication(
    _ id: String, _ user: String, _ end: UAFSessionEnd, _ uses: [UAFKeyUse], _ evidence: EvidenceRecord?,
    _ codes: RowCodes,
    _ judge: ([UAFCredentialRecord], TransactionRecord?) -> UAFOutcome?
  ) throws -> UAFOutcome {
    guard var session = try requestedUAFSession(id, at: end.time, codes),
      session.user == nil || session.user == user
    else { return try uafSession(id, codes)?.hasEndedWithTransaction == true ? .transactionOver : .over }
    var pending: TransactionRecord?
    if let name = session.transaction {
      let named = try transaction(name)
      if let named, named.state(at: end.time) == .expired { try expire(named.id, at: end.time) }
      guard let transaction = named, transaction.state(at: end.time) == .pending,
        transaction.user == nil || transaction.user == user, transaction.isAsked(of: .uaf)
      else { return try fail(session, end, .transactionOver, codes) }
      pending = transaction
    }
    let keys = try uses.compactMap { try uafCredential($0.aaid, $0.keyID, codes) }
      .filter { $0.user == user && $0.state == .active }
    // The loop below refuses a key that is not active.
    if keys.count == uses.count, let refusal = judge(keys, pending) {
      return try fail(session, end, refusal, codes)
    }
    // One refused key fails the operation; the counters of the other keys are stored all the same.
    var firstRefusal: UAFOutcome?
    for use in uses {
      guard let refusal = try count(use, of: user, codes) else { continue }
      firstRefusal = firstRefusal ?? refusal
    }
    if let firstRefusal { return try fail(session, end, firstRefusal, codes) }
    // First, because the end of the transaction fails all its open operations.
    session.user = user
    try succeed(session, end, codes)
    if var pending {
      (pending.user, pending.state) = (user, .accepted)
      (pending.uaf, pending.evidence) = (UAFAcceptance(session: id, time: end.time), evidence)
      try execute(
        """
        UPDATE transactions SET state = 'accepted', uaf_session = $1, decided = $2, user_id = $3, code = $4,
          evidence = $6, evidence_key = $7
        WHERE id = $5 AND state = 'pending'
        """,
        [
          .text(id), .integer(end.time), .text(user),
          .optional(codes.code(of: pending.image)), .text(pending.id), .optional(evidence?.bytes),
          .optional(evidence?.sealedKey),
        ], changing: 1)
      try noteEnd(of: pending.id, user: user, at: end.time)
      try endRow(of: user)
    }
    return .taken
  }
}
