import SignetSQL

extension Storage {
  /// Ends an authentication with verified signatures: checks and stores the counters, and accepts the transaction.
  ///
  /// An operation accepts one response, before it expires. A counter has to be greater than the stored one, or both have to
  /// be 0; otherwise the key is quarantined and the operation fails.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - user: The owner of the keys.
  ///   - end: The status and the time of a success.
  ///   - uses: The keys with their counters.
  ///   - evidence: The part of the response that is kept with the transaction; `nil` without a transaction.
  ///   - audit: Makes the event.
  ///   - check: Checks the keys, all active and the user's, and the pending transaction of the operation within the step:
  ///     the reason to reject the response, `nil` to accept it. It may run again if the step is retried.
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure``.
  package func finishUAFAuthentication(
    _ id: ID<UAFOperationRecord>, of user: UserID, _ end: UAFOperationEnd, uses: [CounterUpdate],
    evidence: EvidenceRecord? = nil,
    audit: @escaping @Sendable (UAFOutcome) -> AuditRecord,
    check: @escaping @Sendable ([UAFCredentialRecord], TransactionRecord?) -> UAFOutcome? = { _, _ in nil }
  ) async throws(StorageFailure) -> UAFOutcome {
    return try await write { database in
      try database.requireUsable(knownUser: user)
      let keys = try uses.compactMap { try database.uafCredential($0.aaid, $0.keyID) }
      var device: ID<DeviceRecord>?
      // The rule below rejects keys of another user, and altered ones.
      for key in keys where key.user == user && key.state != .altered {
        try database.requireUsable(device: key.device, of: user)
        device = try device ?? database.deviceID(of: key)
      }
      let outcome = try database.finishAuthentication(id, user, end, uses, keys, evidence, check)
      let event = audit(outcome)
      try database.appendAudit(event, on: device)
      if outcome.mayLeaveUnanswered { try database.endUnanswerable(of: user, after: event, at: end.time) }
      return outcome
    }
  }
}

extension SQLConnection {
  fileprivate func finishAuthentication(
    _ id: ID<UAFOperationRecord>, _ user: UserID, _ end: UAFOperationEnd, _ uses: [CounterUpdate],
    _ keys: [UAFCredentialRecord],
    _ evidence: EvidenceRecord?,
    _ check: ([UAFCredentialRecord], TransactionRecord?) -> UAFOutcome?
  ) throws -> UAFOutcome {
    guard let session = try uafOperation(id) else { return .expired }
    if let refusal = session.refusal(ofResponseBy: user, at: end.time) { return refusal }
    let response = UAFAuthenticationResult(
      of: session, deciding: try session.transaction.flatMap { try transaction($0) }, by: keys, of: user, end,
      uses: uses, evidence: evidence, check: check)
    for key in response.keys { try update(key) }
    // The operation first, because the end of the transaction fails all its open operations.
    try update(response.session)
    if let transaction = session.transaction { try apply(response.change, to: transaction, at: end.time) }
    if response.clearsBudget { try endRow(of: user) }
    return response.outcome
  }
}
