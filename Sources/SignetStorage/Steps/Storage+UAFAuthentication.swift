import SignetSQL

extension Storage {
  /// Ends an authentication, whose signatures hold: judges the counters, stores them, and decides the transaction.
  ///
  /// An operation is taken once, before its time is over. A counter has to be 0 while the stored one is 0, or be greater than the
  /// stored one; else the key is in quarantine from now on, and the operation has failed.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - user: Whose keys they are.
  ///   - end: How it ends.
  ///   - uses: The keys with their counters.
  ///   - evidence: What is kept of the response with the transaction that it decides; `nil` where it decides none.
  ///   - audit: Makes the event.
  ///   - judge: Why the answer is not taken, by the keys, all of which are the user's and in use, and by the transaction that goes with the
  ///     operation, as both are in this step; `nil` where it is. It may be called again where the step has to be repeated.
  /// - Returns: How it ended.
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
        // One that is nobody's, somebody else's or not ours is refused below.
        guard let key = try database.uafCredential(use.aaid, use.keyID, codes), key.user == user,
          key.state != .altered
        else { continue }
        try database.requireUnlocked(key.device, of: user, codes)
        device = try device ?? database.deviceID(of: key)
      }
      let outcome = try database.finishAuthentication(id, user, end, uses, evidence, codes, judge)
      let event = audit(outcome)
      try database.appendAudit(event, on: device)
      // A key that there are two of is out of use, also where another one is what was refused first.
      let isSuspended =
        try outcome != .taken
        && uses.contains { try database.uafCredential($0.aaid, $0.keyID, codes)?.state == .quarantined }
      if isSuspended { try database.endUnanswerable(of: user, after: event, at: end.time) }
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
        transaction.user == nil || transaction.user == user
      else { return try fail(session, end, .transactionOver, codes) }
      pending = transaction
    }
    let keys = try uses.compactMap { try uafCredential($0.aaid, $0.keyID, codes) }
      .filter { $0.user == user && $0.state == .active }
    // One that is not in use is refused where it is counted.
    if keys.count == uses.count, let refusal = judge(keys, pending) {
      return try fail(session, end, refusal, codes)
    }
    // One key that is refused refuses them all; what the others have proved counts all the same.
    var firstRefusal: UAFOutcome?
    for use in uses {
      guard let refusal = try count(use, of: user, codes) else { continue }
      firstRefusal = firstRefusal ?? refusal
    }
    if let firstRefusal { return try fail(session, end, firstRefusal, codes) }
    // Before the transaction ends, and with it all operations of it that are under way.
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
