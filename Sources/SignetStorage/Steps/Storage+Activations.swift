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
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so: another invite
  ///   takes its place.
  public func openActivation(user: String) async throws(StorageFailure) -> ActivationRecord? {
    try await read { try $0.openActivation("user_id", user) }
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
        try database.requireActive(known: container.user)
        try database.requireUnlocked(container.installation, of: container.user, codes)
      }
      let outcome = try database.finishActivation(id, container: container, limit: limit, at: time)
      // A wrong proof is counted by itself; who knows the invite can repeat all else.
      if let event = audit(outcome) {
        if case .wrongProof = outcome {
          try database.appendAudit(event)
        } else {
          try database.appendRepeatable(event, of: .activation(id))
        }
      }
      return outcome
    }
  }

  /// Makes a pending container active, its activation used, and revokes earlier ones of the same user and device.
  ///
  /// One that renews another becomes active only while that one is, and its activation stays as it is.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - time: When.
  ///   - audit: Makes the event.
  ///   - lost: Makes the event of each that is revoked, but for the one that it renews.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure/deviceLocked`` for one on a device that is locked, unless it renews another, whose lock goes on to it.
  public func confirmContainer(
    _ id: String, at time: Int64, audit: @escaping @Sendable (ConfirmationOutcome) -> AuditRecord,
    lost: @escaping @Sendable (DeviceLoss) -> AuditRecord
  ) async throws(StorageFailure) -> ConfirmationOutcome {
    let codes = codes
    return try await write { database in
      let container = try database.requireActiveUser(ofContainer: id)
      let outcome = try database.confirm(container, at: time, lost, codes)
      // A repeated confirmation changes nothing and is no event.
      guard outcome != .alreadyActive else { return outcome }
      let event = audit(outcome)
      guard outcome == .activated else {
        try database.appendRepeatable(event, of: .container(id))
        return outcome
      }
      try database.appendAudit(event)
      // What it takes the place of may have shown more.
      if let container = try database.container(id) {
        try database.endUnanswerable(of: container.user, after: event, at: time)
      }
      return outcome
    }
  }
}

extension SQLConnection {
  /// The open activation that has a value in a column; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  fileprivate func openActivation(_ column: String, _ value: String) throws -> ActivationRecord? {
    let codes = try rowCodes
    return try row(
      "SELECT \(ActivationRecord.columns) FROM activations WHERE \(column) = $1 AND state = 'open'",
      [.text(value)]
    ) { try ActivationRecord($0, codes) }
  }

  /// Ends the open activations that have a value in a column, and forgets what stands for their invites.
  ///
  /// Their rows have no code from then on, so that nobody opens them again.
  ///
  /// - Returns: How many there were.
  func endActivations(_ state: ActivationRecord.State, _ column: String, _ value: String) throws -> Int {
    try execute(
      "UPDATE activations SET state = $1, sealed_invite_key = $2, code = NULL WHERE \(column) = $3 AND state = 'open'",
      [.text(state.rawValue), .blob([]), .text(value)])
  }

  fileprivate func finishActivation(
    _ id: String, container: NewContainer?, limit: Int, at time: Int64
  ) throws -> ActivationOutcome {
    guard let container else {
      // One whose row was altered refuses a wrong proof as it does a right one.
      guard try openActivation("id", id) != nil else { return .closed }
      let counted = try number(
        """
        UPDATE activations SET failed_attempts = failed_attempts + 1
        WHERE id = $1 AND state = 'open' AND expires > $2 AND failed_attempts < $3 RETURNING failed_attempts
        """, [.text(id), .integer(time), .int(limit)])
      guard let counted else { return .closed }
      return .wrongProof(remaining: max(0, limit - Int(clamping: counted)))
    }
    guard let open = try openActivation("id", id), open.expires > time, open.failedAttempts < limit else {
      return .closed
    }
    guard try !hasTakenKey(container, replacing: "activation", id) else { return .keyTaken }
    try removePending("activation", id)
    try insert(container)
    return .staged
  }

  fileprivate func confirm(
    _ container: ContainerRecord?, at time: Int64, _ lost: (DeviceLoss) -> AuditRecord, _ codes: RowCodes
  ) throws -> ConfirmationOutcome {
    guard var container else { return .gone }
    if container.state == .active { return .alreadyActive }
    guard container.state == .pending else { return .gone }
    if let renewed = container.renews {
      // A renewal goes on from a container in use; one that ended meanwhile has no successor.
      guard try self.container(renewed)?.state == .active else { return .gone }
    } else {
      try requireUnlocked(container.installation, of: container.user, codes)
      guard try openActivation("id", container.activation) != nil else { return .gone }
      _ = try endActivations(.used, "id", container.activation)
    }
    for earlier in try containers(of: container.user, "state = 'active'")
    where earlier.device == container.device {
      try revoke(earlier)
      if earlier.id != container.renews { try appendAudit(lost(.container(earlier.id))) }
    }
    container.state = .active
    try update(container)
    if var credential = try credential(container.id) {
      credential.state = .active
      try update(credential)
    }
    if let renewed = container.renews {
      _ = try execute(
        "UPDATE push_targets SET container = $1 WHERE container = $2", [.text(container.id), .text(renewed)])
      try carryAccountState(from: renewed, to: container.id, at: time, codes)
    }
    try bind(DeviceRecord(of: container, at: time, codes), codes)
    return .activated
  }
}
