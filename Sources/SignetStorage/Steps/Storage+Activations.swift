import SignetSQL

extension Storage {
  /// Adds an open activation; an earlier open one of the same user is replaced by it.
  ///
  /// - Throws: ``StorageFailure/unknown`` when there is no such user.
  public func addActivation(_ activation: ActivationRecord, audit: AuditRecord) async throws(StorageFailure) {
    try await write { database in
      try database.requireActive(activation.user)
      _ = try database.endActivations(.replaced, "user_id", activation.user)
      try database.insert(activation)
      try database.appendAudit(audit)
    }
  }

  /// The user's open activation, whether or not it has expired; `nil` for none.
  public func openActivation(user: String) async throws(StorageFailure) -> ActivationRecord? {
    try await read { database in
      try database.row(
        "SELECT \(ActivationRecord.columns) FROM activations WHERE user_id = $1 AND state = 'open'",
        [.text(user)]
      ) { try ActivationRecord($0) }
    }
  }

  /// Ends one *finish* message: the proof was checked by the caller, this decides and remembers.
  ///
  /// An activation that is not open, has expired at `time`, or has `limit` failed attempts refuses whatever the proof
  /// was, so nothing is learnt from it. A wrong proof (`container` is `nil`) adds a failed attempt. A right one adds the
  /// container and its credential as pending, in the place of an earlier pending one of the same activation; unless one of its
  /// public keys belongs to another authenticator, of whatever kind and state.
  ///
  /// - Throws: ``StorageFailure/deviceLocked`` for a container of a device that is locked.
  public func finishActivation(
    _ id: String, container: NewContainer?, limit: Int, at time: Int64,
    audit: @escaping @Sendable (ActivationOutcome) -> AuditRecord?
  ) async throws(StorageFailure) -> ActivationOutcome {
    let codes = codes
    return try await write { database in
      if let container = container?.container {
        try database.requireActive(container.user)
        try database.requireUnlocked(container.installation, of: container.user, isBound: false, codes)
      }
      let outcome = try database.finishActivation(id, container: container, limit: limit, at: time)
      // A wrong proof is counted by itself; who knows the invite can repeat all else.
      if let event = audit(outcome) {
        if case .wrongProof = outcome {
          try database.appendAudit(event)
        } else {
          try database.appendRefusal(event, of: .activation(id), at: time)
        }
      }
      return outcome
    }
  }

  /// Makes a pending container active, its activation used, and revokes earlier ones of the same user and device.
  ///
  /// One that renews another becomes active only while that one is, and its activation stays as it is.
  ///
  /// - Throws: ``StorageFailure/deviceLocked`` for one on a device that is locked, unless it renews another, whose lock goes on to it.
  public func confirmContainer(
    _ id: String, at time: Int64, audit: @escaping @Sendable (ConfirmationOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> ConfirmationOutcome {
    let codes = codes
    return try await write { database in
      try database.requireActiveUser(ofContainer: id)
      let outcome = try database.confirmContainer(id, at: time, codes)
      // A repeated confirmation changes nothing and is no event.
      guard outcome != .alreadyActive else { return outcome }
      let event = audit(outcome)
      try database.appendAudit(event)
      // What it takes the place of may have shown more.
      if outcome == .activated, let container = try database.container(id) {
        try database.endUnanswerable(of: container.user, after: event, at: time)
      }
      return outcome
    }
  }
}

extension SQLConnection {
  /// Ends the open activations that have a value in a column, and forgets what stands for their invites.
  ///
  /// - Returns: How many there were.
  func endActivations(_ state: ActivationRecord.State, _ column: String, _ value: String) throws -> Int {
    try execute(
      "UPDATE activations SET state = $1, sealed_invite_key = $2 WHERE \(column) = $3 AND state = 'open'",
      [.text(state.rawValue), .blob([]), .text(value)])
  }

  fileprivate func finishActivation(
    _ id: String, container: NewContainer?, limit: Int, at time: Int64
  ) throws -> ActivationOutcome {
    guard let container else {
      let counted = try number(
        """
        UPDATE activations SET failed_attempts = failed_attempts + 1
        WHERE id = $1 AND state = 'open' AND expires > $2 AND failed_attempts < $3 RETURNING failed_attempts
        """, [.text(id), .integer(time), .int(limit)])
      guard let counted else { return .closed }
      return .wrongProof(remaining: max(0, limit - Int(clamping: counted)))
    }
    let isOpen = try exists(
      "SELECT 1 FROM activations WHERE id = $1 AND state = 'open' AND expires > $2 AND failed_attempts < $3",
      [.text(id), .integer(time), .int(limit)])
    guard isOpen else { return .closed }
    guard try !hasTakenKey(container, replacing: "activation", id) else { return .keyTaken }
    try removePending("activation", id)
    try insert(container)
    return .staged
  }

  fileprivate func confirmContainer(
    _ id: String, at time: Int64, _ codes: RowCodes
  ) throws -> ConfirmationOutcome {
    guard let container = try container(id) else { return .gone }
    if container.state == .active { return .alreadyActive }
    guard container.state == .pending else { return .gone }
    if let renewed = container.renews {
      // A renewal goes on from a container in use; one that ended meanwhile has no successor.
      let isActive = try exists(
        "SELECT 1 FROM containers WHERE id = $1 AND state = 'active'", [.text(renewed)])
      guard isActive else { return .gone }
    } else {
      try requireUnlocked(container.installation, of: container.user, isBound: false, codes)
      guard try endActivations(.used, "id", container.activation) == 1 else { return .gone }
    }
    let earlier = try rows(
      "UPDATE containers SET state = 'revoked' WHERE user_id = $1 AND device = $2 AND state = 'active' RETURNING id",
      [.text(container.user), .blob(container.device)]
    ) { try $0.text(0) }
    for id in earlier { try removeCredential(id) }
    _ = try execute("UPDATE containers SET state = 'active' WHERE id = $1", [.text(id)])
    _ = try execute("UPDATE credentials SET state = 'active' WHERE id = $1", [.text(id)])
    if let renewed = container.renews {
      _ = try execute(
        "UPDATE push_targets SET container = $1 WHERE container = $2", [.text(id), .text(renewed)])
      try carryAccountState(from: renewed, to: id, at: time, codes)
    }
    try bind(DeviceRecord(of: container, at: time, codes), codes)
    return .activated
  }
}
