import SignetSQL

extension Storage {
  /// Adds a client's request and its transaction in one step, as ``Storage/addTransaction(_:key:limits:audit:)`` does.
  ///
  /// If the client is revoked, nothing is written.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - transaction: The transaction that it names.
  ///   - limits: The rate limits for requests to one user.
  ///   - authenticatorRequests: How authenticators that cannot list pending requests are asked; nothing is added if no authenticator can answer.
  ///   - audit: Makes the event.
  /// - Returns: Whether they were added, or the reason why not.
  /// - Throws: ``StorageFailure/unknown`` for an unknown user or client.
  package func addBackchannelRequest(
    _ request: BackchannelRecord, asking transaction: TransactionRecord, limits: TransactionLimits,
    by authenticatorRequests: AuthenticatorRequestRecords? = nil,
    audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> AdmissionOutcome {
    try await write { database in
      let client = try database.anyClient(request.client)?.checked()
      guard client?.revoked == nil else { return .clientRevoked }
      if let user = transaction.user { try database.requireUsable(user: user) }
      let outcome = try database.add(transaction, limits, authenticatorRequests)
      if outcome == .added {
        try database.insert(request)
      }
      try database.appendAudit(audit(outcome), as: outcome.entry(to: transaction.user))
      if outcome == .added, let authenticatorRequests { try database.insert(authenticatorRequests) }
      return outcome
    }
  }

  /// Returns the state of a request for its client, and counts the poll while the request is pending.
  ///
  /// - Parameters:
  ///   - digest: The digest of the request's id.
  ///   - client: The client that polls.
  ///   - time: The current time, in seconds since 1970.
  ///   - step: The seconds that a poll adds to the required interval if it comes too soon.
  ///   - limit: The longest required interval, in seconds.
  /// - Returns: The state.
  /// - Throws: ``StorageFailure``.
  package func pollBackchannelRequest(
    _ digest: [UInt8], of client: ID<ClientRecord>, at time: Int64, step: Int64, limit: Int64
  ) async throws(StorageFailure) -> PollOutcome {
    try await write { database in
      guard let request = try database.backchannelRequest(digest, of: client),
        let transaction = try database.transaction(request.transaction)
      else { return .unknown }
      let (outcome, change) = request.poll(of: transaction, at: time, step: step, limit: limit)
      switch change {
      case nil: break
      case .counts(let interval):
        try database.execute(
          "UPDATE backchannel_requests SET last_poll = $1, poll_interval = $2 WHERE digest = $3",
          [.integer(time), .integer(interval), .blob(digest)], changing: 1)
      case .expires: try database.expire(transaction.id, at: time)
      case .closes: try database.close(request)
      }
      return outcome
    }
  }

  /// Records that the tokens of a request are issued.
  ///
  /// That happens once, in time, not to a revoked client, and only while the authenticator that accepted the request is active.
  ///
  /// - Parameters:
  ///   - digest: The digest of the request's id.
  ///   - client: The client.
  ///   - time: The current time; a client that polls must come before the request expires.
  ///   - window: The number of seconds after the decision during which tokens can be pushed.
  ///   - audit: The event, written the first time.
  /// - Returns: `true` if this was the first time.
  /// - Throws: ``StorageFailure``.
  package func issueTokens(
    for digest: [UInt8], of client: ID<ClientRecord>, at time: Int64, pushedWithin window: Int64,
    audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard let request = try database.backchannelRequest(digest, of: client),
        let transaction = try database.transaction(request.transaction),
        let found = try database.anyClient(client)?.checked()
      else { return false }
      let isGranted = request.grantsTokens(
        for: transaction, isProofInUse: try database.isProofInUse(transaction),
        user: try transaction.user.flatMap { try database.userState($0) }, client: found, at: time,
        pushedWithin: window)
      guard isGranted else { return false }
      try database.execute(
        "UPDATE backchannel_requests SET issued = $1 WHERE digest = $2 AND client = $3 AND issued IS NULL",
        [.integer(time), .blob(digest), .of(client)], changing: 1)
      try database.appendAudit(audit)
      return true
    }
  }

  /// Returns the client request of this transaction; `nil` for none.
  package func backchannelRequest(
    ofTransaction transaction: TransactionID
  ) async throws(StorageFailure) -> BackchannelRecord? {
    try await read { try $0.record("WHERE txn = $1", [.of(transaction)]) }
  }
}

extension SQLConnection {
  /// Returns the request of a client; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify; ``SQLFailure``.
  fileprivate func backchannelRequest(_ digest: [UInt8], of client: ID<ClientRecord>) throws
    -> BackchannelRecord?
  {
    try record("WHERE digest = $1 AND client = $2", [.blob(digest), .of(client)])
  }
}
