import SignetSQL

extension Storage {
  /// Adds a transaction as ``Storage/addTransaction(_:key:limits:audit:)`` does, and in the same step the client's request that it is.
  ///
  /// Of a revoked client nothing is written.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - transaction: The transaction that it names.
  ///   - limits: How often a user may be asked.
  ///   - asking: How authenticators without a list of what waits are asked; nothing is added where nobody could answer.
  ///   - audit: Makes the event.
  /// - Returns: Whether they were added.
  /// - Throws: ``StorageFailure/unknown`` when there is no such user or client.
  public func addBackchannelRequest(
    _ request: BackchannelRecord, asking transaction: TransactionRecord, limits: TransactionLimits,
    by asking: TransactionAsking? = nil, audit: @escaping @Sendable (AdmissionOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> AdmissionOutcome {
    try await write { database in
      let client = try database.anyClient(request.client)?.checked()
      guard client?.revoked == nil else { return .clientRevoked }
      if let user = transaction.user { try database.requireUsable(user: user) }
      let outcome = try database.add(transaction, limits, asking)
      if outcome == .added {
        try database.insert(request)
      }
      try database.appendAudit(audit(outcome), as: outcome.entry(to: transaction.user))
      if outcome == .added, let asking { try database.insert(asking) }
      return outcome
    }
  }

  /// Looks how a request stands, for its client, and counts that while nothing is decided.
  ///
  /// - Parameters:
  ///   - digest: Of which request.
  ///   - client: Who asks.
  ///   - time: When.
  ///   - step: How many more seconds have to pass between two polls after one that comes too soon.
  ///   - limit: The most seconds that have to pass between two polls.
  /// - Returns: What was found.
  /// - Throws: ``StorageFailure``.
  public func pollBackchannelRequest(
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

  /// Notes that the tokens of a request are given out, which happens once, in time, to no revoked client, and while what the user
  /// accepted with is in use.
  ///
  /// - Parameters:
  ///   - digest: Of which request.
  ///   - client: To whom.
  ///   - time: When; a client that asks has to be there before the request expires.
  ///   - window: For how many seconds after the decision a client may be told them.
  ///   - audit: The event, written the first time.
  /// - Returns: Whether this was the first time.
  /// - Throws: ``StorageFailure``.
  public func issueTokens(
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

  /// What a client asked that is this transaction; `nil` for none.
  public func backchannelRequest(
    ofTransaction transaction: TransactionID
  ) async throws(StorageFailure) -> BackchannelRecord? {
    try await read { [mac] database in
      try database.row(
        "SELECT \(BackchannelRecord.columns) FROM backchannel_requests WHERE txn = $1", [.of(transaction)]
      ) { try BackchannelRecord($0, mac) }
    }
  }
}

extension SQLConnection {
  /// The request of a client.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  fileprivate func backchannelRequest(_ digest: [UInt8], of client: ID<ClientRecord>) throws
    -> BackchannelRecord?
  {
    let mac = try rowMAC
    return try row(
      "SELECT \(BackchannelRecord.columns) FROM backchannel_requests WHERE digest = $1 AND client = $2",
      [.blob(digest), .of(client)]
    ) { try BackchannelRecord($0, mac) }
  }
}
